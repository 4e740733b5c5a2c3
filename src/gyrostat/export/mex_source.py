"""A traced function for MATLAB and Octave: one C file to compile with `mex`, or an S-function for Simulink."""

from __future__ import annotations

from ..tracing.c99 import CFunction, c_function
from ..tracing.graph import Graph, Port
from .c_source import CFiles, c_files

_MEX = """/*
 * NAME for MATLAB and Octave: mex NAME_mex.c NAME.c -output NAME_mex
 *   USAGE
 * Arrays as they are there (columns first); vectors may be rows or columns.
 */

#include "mex.h"
#include "NAME.h"

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
DECLARATIONS
    if (nrhs != COUNT_IN) {
        mexErrMsgIdAndTxt("gyrostat:arguments", "NAME takes COUNT_IN arguments: USAGE");
    }
    if (nlhs > COUNT_OUT) {
        mexErrMsgIdAndTxt("gyrostat:results", "NAME gives COUNT_OUT results: USAGE");
    }
READ
    CALL
WRITE
}
"""

_S_FUNCTION = """/*
 * NAME as an S-function for Simulink: mex NAME_sfun.c NAME.c
 * Inputs and outputs are ports in the order of NAME.h, each a vector in C order; no states, direct feedthrough.
 */

#define S_FUNCTION_NAME NAME_sfun
#define S_FUNCTION_LEVEL 2

#include "simstruc.h"
#include "NAME.h"

static void mdlInitializeSizes(SimStruct *S)
{
    ssSetNumSFcnParams(S, 0);
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S)) {
        return;
    }
    if (!ssSetNumInputPorts(S, COUNT_IN) || !ssSetNumOutputPorts(S, COUNT_OUT)) {
        return;
    }
PORTS
    ssSetNumSampleTimes(S, 1);
}

static void mdlInitializeSampleTimes(SimStruct *S)
{
    ssSetSampleTime(S, 0, INHERITED_SAMPLE_TIME);
    ssSetOffsetTime(S, 0, 0.0);
}

static void mdlOutputs(SimStruct *S, int_T tid)
{
    UNUSED_ARG(tid);
    CALL
}

static void mdlTerminate(SimStruct *S)
{
    UNUSED_ARG(S);
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
"""


def mex_files(graph: Graph, name: str) -> CFiles:
    """`name.h`, `name.c`, `name_mex.c` for `mex` and `mkoctfile --mex`, and `name_sfun.c`, an S-function."""
    files = c_files({name: graph}, name)
    function = c_function(graph, name)
    texts = {**files.texts, f"{name}_mex.c": _mex(graph, function), f"{name}_sfun.c": _s_function(graph, function)}
    return CFiles(texts, files.stack_bytes, files.operations)


def _mex(graph: Graph, function: CFunction) -> str:
    usage = f"[{', '.join(function.outputs)}] = {function.name}_mex({', '.join(function.inputs)})"
    declare, read, write, arguments = [], [], [], []
    for k, (port, own) in enumerate(zip(graph.inputs, function.inputs, strict=True)):
        declare.append(f"    double in_{own}[{max(1, port.size)}];")
        read += _checked(k, port, own) + _copied(port, f"in_{own}", f"mxGetPr(prhs[{k}])", into=True)
        arguments.append(f"in_{own}[0]" if port.shape == () else f"in_{own}")
    for k, (port, own) in enumerate(zip(graph.outputs, function.outputs, strict=True)):
        declare.append(f"    double out_{own}[{max(1, port.size)}];")
        rows, columns = _shape(port)
        lines = [f"    plhs[{k}] = mxCreateDoubleMatrix({rows}, {columns}, mxREAL);"]
        lines += _copied(port, f"out_{own}", f"mxGetPr(plhs[{k}])", into=False)
        # the first result is always taken; there is room for no more of the others than were asked for
        write += lines if k == 0 else [f"    if (nlhs > {k}) {{", *(f"    {line}" for line in lines), "    }"]
        arguments.append(f"out_{own}")
    return _filled(
        _MEX,
        graph,
        function,
        USAGE=usage,
        DECLARATIONS="\n".join(declare),
        READ="\n".join(read),
        WRITE="\n".join(write),
        CALL=f"{function.name}({', '.join(arguments)});",
    )


def _checked(k: int, port: Port, own: str) -> list[str]:
    shape = " x ".join(map(str, port.shape)) if port.shape else "1"
    message = f"argument {k + 1}, {own}, must hold {port.size} real numbers ({shape})."
    real = f"mxIsDouble(prhs[{k}]) && !mxIsComplex(prhs[{k}])"
    return [
        f"    if (!({real} && (mxGetNumberOfElements(prhs[{k}]) == {port.size}U))) {{",
        f'        mexErrMsgIdAndTxt("gyrostat:argument", "{message}");',
        "    }",
    ]


def _copied(port: Port, c_array: str, matlab: str, *, into: bool) -> list[str]:
    """From columns first to C order (into), or back."""
    rows, columns = _shape(port)
    there = f"{matlab}[i + (j * {rows})]"
    here = f"{c_array}[(i * {columns}) + j]"
    return [
        f"    for (int i = 0; i < {rows}; ++i) {{",
        f"        for (int j = 0; j < {columns}; ++j) {{",
        f"            {here} = {there};" if into else f"            {there} = {here};",
        "        }",
        "    }",
    ]


def _shape(port: Port) -> tuple[int, int]:
    """Of the matrix there: vectors are columns, arrays of more axes are columns in C order."""
    return (port.shape[0], port.shape[1]) if len(port.shape) == 2 else (port.size, 1)


def _s_function(graph: Graph, function: CFunction) -> str:
    ports, arguments = [], []
    for k, port in enumerate(graph.inputs):
        ports.append(f"    ssSetInputPortWidth(S, {k}, {max(1, port.size)});")
        ports.append(f"    ssSetInputPortRequiredContiguous(S, {k}, true);")
        ports.append(f"    ssSetInputPortDirectFeedThrough(S, {k}, 1);")
        signal = f"ssGetInputPortRealSignal(S, {k})"
        arguments.append(f"{signal}[0]" if port.shape == () else signal)
    for k, port in enumerate(graph.outputs):
        ports.append(f"    ssSetOutputPortWidth(S, {k}, {max(1, port.size)});")
        arguments.append(f"ssGetOutputPortRealSignal(S, {k})")
    call = f"{function.name}(" + ",\n        ".join(arguments) + ");"
    return _filled(_S_FUNCTION, graph, function, PORTS="\n".join(ports), CALL=call)


def _filled(text: str, graph: Graph, function: CFunction, **words: str) -> str:
    words |= {"COUNT_IN": str(len(graph.inputs)), "COUNT_OUT": str(len(graph.outputs))}
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    # S_FUNCTION_NAME is Simulink's own word
    return text.replace("S_FUNCTION_NAME", "\0").replace("NAME", function.name).replace("\0", "S_FUNCTION_NAME")
