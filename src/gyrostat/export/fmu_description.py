"""modelDescription.xml of an FMU, of FMI 2.0 and 3.0, and buildDescription.xml of 3.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from .fmu_variables import Variable, Variables

CO_SIMULATION, MODEL_EXCHANGE = "co-simulation", "model-exchange"
# Exponents of base units
_BASE: dict[str, dict[str, int]] = {
    "s": {"s": 1},
    "m": {"m": 1},
    "rad": {"rad": 1},
    "kg": {"kg": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "kg.m2": {"kg": 1, "m": 2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "N/s": {"kg": 1, "m": 1, "s": -3},
    "N.m/s": {"kg": 1, "m": 2, "s": -3},
    "N.s": {"kg": 1, "m": 1, "s": -1},
    "N.m.s": {"kg": 1, "m": 2, "s": -1},
    "J": {"kg": 1, "m": 2, "s": -2},
}


@dataclass(frozen=True)
class Description:
    """What a description says besides its variables.

    span: start and stop of the default experiment; every: its communication step; tolerance: for model exchange.
    """

    title: str
    identifier: str
    token: str
    kinds: tuple[str, ...]
    tool: str
    text: str = ""
    span: tuple[float, float] | None = None
    every: float | None = None
    tolerance: float | None = None


def model_description(version: str, about: Description, variables: Variables, sources: Sequence[str]) -> str:
    """version: "2.0" or "3.0"; sources: files to compile."""
    old = version == "2.0"
    root = Element("fmiModelDescription", {"fmiVersion": version, "modelName": about.title})
    root.set("guid" if old else "instantiationToken", about.token)
    for name, value in (("description", about.text), ("generationTool", about.tool)):
        if value:
            root.set(name, value)
    root.set("variableNamingConvention", "structured")
    if old:
        root.set("numberOfEventIndicators", "0")
    _kinds(root, about, sources if old else (), old)
    _units(root, variables)
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", {"name": "logStatusError", "description": "wrong use, and what went wrong"})
    if about.span is not None:
        experiment = {"startTime": _number(about.span[0]), "stopTime": _number(about.span[1])}
        experiment |= {"tolerance": _number(about.tolerance)} if about.tolerance is not None else {}
        experiment |= {"stepSize": _number(about.every)} if about.every is not None else {}
        SubElement(root, "DefaultExperiment", experiment)
    listed = SubElement(root, "ModelVariables")
    for variable in variables:
        _variable(listed, variable, old)
    _structure(root, variables, old)
    return _text(root)


def build_description(identifier: str, sources: Sequence[str]) -> str:
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    build = SubElement(root, "BuildConfiguration", {"modelIdentifier": identifier})
    files = SubElement(build, "SourceFileSet", {"language": "C99"})
    for name in sources:
        SubElement(files, "SourceFile", {"name": name})
    SubElement(build, "Library", {"name": "m", "external": "true", "description": "math.h, where it is apart"})
    return _text(root)


def _kinds(root: Element, about: Description, sources: Sequence[str], old: bool) -> None:
    """FMI 2.0 has the sources here, and words of its own."""
    common = {"modelIdentifier": about.identifier}
    common |= {"canGetAndSetFMUstate" if old else "canGetAndSetFMUState": "true"}
    common |= {"canSerializeFMUstate" if old else "canSerializeFMUState": "true"}
    common |= {"canNotUseMemoryManagementFunctions": "true"} if old else {}
    for kind, name in ((MODEL_EXCHANGE, "ModelExchange"), (CO_SIMULATION, "CoSimulation")):
        if kind not in about.kinds:
            continue
        own = {"canHandleVariableCommunicationStepSize": "true"} if kind == CO_SIMULATION else {}
        element = SubElement(root, name, common | own)
        if sources:
            files = SubElement(element, "SourceFiles")
            for source in sources:
                SubElement(files, "File", {"name": source})


def _units(root: Element, variables: Variables) -> None:
    used = dict.fromkeys(variable.unit for variable in variables if variable.unit)
    definitions = SubElement(root, "UnitDefinitions")
    for name in used:
        unit = SubElement(definitions, "Unit", {"name": name})
        if name in _BASE:
            SubElement(unit, "BaseUnit", {base: str(power) for base, power in _BASE[name].items()})


def _variable(listed: Element, variable: Variable, old: bool) -> None:
    own = {"name": variable.name, "valueReference": str(variable.reference)}
    own |= {"description": variable.description} if variable.description else {}
    own |= {"causality": variable.causality, "variability": variable.variability}
    own |= {"initial": variable.initial} if variable.initial and variable.causality != "input" else {}
    number: dict[str, str] = {}
    number |= {"unit": variable.unit} if variable.unit else {}
    number |= {"min": _number(variable.least)} if variable.least is not None else {}
    number |= {"start": _number(variable.start)} if variable.start is not None else {}
    if variable.derivative_of is not None:  # FMI 2.0 counts variables from one, and references here from zero
        number["derivative"] = str(variable.derivative_of + (1 if old else 0))
    if old:
        SubElement(SubElement(listed, "ScalarVariable", own), "Real", number)
    else:
        SubElement(listed, "Float64", own | number)


def _structure(root: Element, variables: Variables, old: bool) -> None:
    unknowns = [v for v in variables if v.initial == "calculated"]
    groups: Mapping[tuple[str, str], Sequence[Variable]] = {
        ("Outputs", "Output"): variables.outputs,
        ("Derivatives", "ContinuousStateDerivative"): variables.derivatives,
        ("InitialUnknowns", "InitialUnknown"): unknowns,
    }
    structure = SubElement(root, "ModelStructure")
    for (group, name), members in groups.items():
        if old and members:
            inside = SubElement(structure, group)
            for variable in members:
                SubElement(inside, "Unknown", {"index": str(variable.reference + 1)})
        elif not old:
            for variable in members:
                SubElement(structure, name, {"valueReference": str(variable.reference)})


def _number(value: float) -> str:
    return repr(float(value))


def _text(root: Element) -> str:
    indent(root, "  ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"
