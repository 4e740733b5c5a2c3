"""Elementary functions on vectors of doubles, as code of any target. Each lane is computed as if it were alone.

Sine and cosine are written where they are used; the others are functions of the module that needs them. Coefficients of
the polynomials: fdlibm (Sun Microsystems) and Cephes (S. L. Moshier); those of exp are Taylor's.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TypeVar

from .ir import Code

Spelt = TypeVar("Spelt", bound=Code)  # a target's

_FAR = 1e5  # beyond this angle the C library reduces the argument
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, whose low bits are then those of the sum
_SIN = [1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6,
        -1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1]  # fmt: skip
_COS = [-1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7,
        2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2]  # fmt: skip
# pi/2 in three parts; the first two have trailing zeros, so that their multiples are exact
_HALF_PI = (1.57079625129699707031, 7.54978941586159635335e-08, 5.39030285815811828e-15)


def sincos(code: Code, x: str) -> tuple[str, str]:
    """Sine and cosine of x: within 2 ulp or 1e-24. Cody-Waite reduction; the C library where |x| > 1e5."""
    shifted = code.add(code.mul(x, code.const(2 / math.pi)), code.const(_ROUND))
    quadrant, r = code.bits(shifted), code.sub(shifted, code.const(_ROUND))
    z = x
    for part in _HALF_PI:
        z = code.sub(z, code.mul(r, code.const(part)))
    z2 = code.mul(z, z)
    s = code.add(z, code.mul(code.mul(z, z2), code.polynomial(z2, _SIN)))
    c = code.add(code.const(1.0), code.mul(z2, code.add(code.const(-0.5), code.mul(z2, code.polynomial(z2, _COS)))))
    odd = code.compare_integers("ne", code.int_op("and", quadrant, 1), 0)
    sine, cosine = code.select(odd, c, s), code.select(odd, s, c)
    sign_s = code.int_op("shl", code.int_op("and", quadrant, 2), 62)
    sign_c = code.int_op("shl", code.int_op("and", code.int_op("add", quadrant, 1), 2), 62)
    sine = code.from_bits(code.int_op("xor", code.bits(sine), sign_s))
    cosine = code.from_bits(code.int_op("xor", code.bits(cosine), sign_c))

    far = code.compare("ogt", code.intrinsic("fabs", x), code.const(_FAR))
    s, c = code.rarely(
        far, (sine, cosine), lambda: (code.call("gs_far_sin", x, sine), code.call("gs_far_cos", x, cosine))
    )
    return s, c


def _far(name: str) -> Callable[[Code, str, str], str]:
    def body(code: Code, x: str, near: str) -> str:
        far = code.compare("ogt", code.intrinsic("fabs", x), code.const(_FAR))
        return code.select(far, code.each_lane(name, x), near)

    return body


def _exp(code: Code, x: str) -> str:
    """2^n e^r with |r| <= ln(2)/2; 2^n in two factors, so that results down to the smallest number are right."""
    x = code.select(code.compare("olt", x, code.const(-746.0)), code.const(-746.0), x)
    x = code.select(code.compare("ogt", x, code.const(710.0)), code.const(710.0), x)
    shifted = code.add(code.mul(x, code.const(1 / math.log(2))), code.const(_ROUND))
    n = code.sub(shifted, code.const(_ROUND))
    r = code.sub(x, code.mul(n, code.const(6.93147180369123816490e-01)))
    r = code.sub(r, code.mul(n, code.const(1.90821492927058770002e-10)))
    p = code.polynomial(r, [1 / math.factorial(k) for k in range(13, 1, -1)])
    p = code.add(code.const(1.0), code.add(r, code.mul(code.mul(r, r), p)))
    integer = code.int_op("sub", code.bits(shifted), _bits(_ROUND))
    half = code.int_op("ashr", integer, 1)
    for part in (half, code.int_op("sub", integer, half)):
        p = code.mul(p, code.from_bits(code.int_op("shl", code.int_op("add", part, 1023), 52)))
    return p


def _bits(x: float) -> int:
    return struct.unpack(">q", struct.pack(">d", x))[0]


_LOG = [1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
        2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01]  # fmt: skip


def _log(code: Code, x: str) -> str:
    """k ln(2) + log(m) with m between sqrt(1/2) and sqrt(2); log(1 + f) = f - s (f - R) with s = f / (2 + f)."""
    tiny = code.compare("olt", x, code.const(2.2250738585072014e-308))
    scaled = code.select(tiny, code.mul(x, code.const(2.0**54)), x)
    shift = code.select(tiny, code.const(-54.0), code.const(0.0))
    # add so that the exponent steps up at sqrt(2) instead of 2
    offset = code.int_op("add", code.bits(scaled), 0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
    exponent = code.int_op("sub", code.int_op("lshr", offset, 52), 1023)
    mantissa = code.int_op("add", code.int_op("and", offset, 0xFFFFFFFFFFFFF), 0x3FE6A09E667F3BCD)
    k = code.add(code.from_integers(exponent), shift)
    f = code.sub(code.from_bits(mantissa), code.const(1.0))
    s = code.div(f, code.add(f, code.const(2.0)))
    z = code.mul(s, s)
    R = code.mul(z, code.polynomial(z, _LOG))
    half = code.mul(code.const(0.5), code.mul(f, f))
    low = code.add(code.mul(s, code.add(half, R)), code.mul(k, code.const(1.90821492927058770002e-10)))
    value = code.sub(code.mul(k, code.const(6.93147180369123816490e-01)), code.sub(code.sub(half, low), f))
    finite = code.compare("olt", x, code.const(math.inf))
    value = code.select(finite, value, x)  # infinity and NaN are their own logarithms
    value = code.select(code.compare("oeq", x, code.const(0.0)), code.const(-math.inf), value)
    return code.select(code.compare("olt", x, code.const(0.0)), code.const(math.nan), value)


_PI_LOW = 1.2246467991473532e-16  # pi - math.pi
_ATAN_P = [-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
           -1.228866684490136173410e2, -6.485021904942025371773e1]  # fmt: skip
_ATAN_Q = [1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
           4.853903996359136964868e2, 1.945506571482613964425e2]  # fmt: skip


def _atan2(code: Code, y: str, x: str) -> str:
    """The arc tangent of the smaller over the larger, reflected into the octant of (x, y)."""
    ax, ay = code.intrinsic("fabs", x), code.intrinsic("fabs", y)
    steep = code.compare("ogt", ay, ax)
    small, large = code.select(steep, ax, ay), code.select(steep, ay, ax)
    # at the origin 0 / 1, on infinite diagonals 1 / 1
    large = code.select(code.compare("oeq", large, code.const(0.0)), code.const(1.0), large)
    diagonal = code.compare("oeq", small, code.const(math.inf))
    small, large = code.select(diagonal, code.const(1.0), small), code.select(diagonal, code.const(1.0), large)
    # away from the ends of the range, so that sums and products neither overflow nor lose digits
    scale = code.select(code.compare("olt", large, code.const(1e-290)), code.const(2.0**200), code.const(1.0))
    scale = code.select(code.compare("ogt", large, code.const(1e290)), code.const(2.0**-200), scale)
    small, large = code.mul(small, scale), code.mul(large, scale)
    wide = code.compare("ogt", small, code.mul(large, code.const(0.66)))
    top = code.select(wide, code.sub(small, large), small)
    t = code.div(top, code.select(wide, code.add(small, large), large))
    z = code.mul(t, t)
    ratio = code.div(code.polynomial(z, _ATAN_P), code.polynomial(z, _ATAN_Q))
    low = code.mul(code.mul(t, z), ratio)
    shift = code.select(wide, code.const(math.pi / 4), code.const(0.0))
    shift_low = code.select(wide, code.const(_PI_LOW / 4), code.const(0.0))
    value = code.add(shift, code.add(t, code.add(low, shift_low)))
    up = code.sub(code.const(math.pi / 2), code.sub(value, code.const(_PI_LOW / 2)))
    value = code.select(steep, up, value)
    back = code.compare_integers("slt", code.bits(x), 0)
    turned = code.sub(code.const(math.pi), code.sub(value, code.const(_PI_LOW)))
    value = code.intrinsic("copysign", code.select(back, turned, value), y)
    unordered = code.compare("uno", x, y)
    return code.select(unordered, code.add(x, y), value)


def _pow(code: Code, a: str, b: str) -> str:
    return code.each_lane("pow", a, b)


def _mod(code: Code, a: str, b: str) -> str:
    """The C library's remainder, moved to the sign of b as Python has it."""
    r = code.each_lane("fmod", a, b)
    product = code.int_op("xor", code.bits(r), code.bits(b))
    opposite = code.compare_integers("slt", product, 0)
    nonzero = code.compare("une", r, code.const(0.0))
    return code.select(code.logic("and", opposite, nonzero), code.add(r, b), r)


def _uniform(code: Code, *keys: str) -> str:
    """See ops.random_bits."""
    h = code.integer(0)
    for key in keys:
        step = code.int_op("mul", code.int_op("add", code.to_integers(key), 1), 0x9E3779B97F4A7C15)
        h = code.int_op("add", h, step)
        h = code.int_op("mul", code.int_op("xor", h, code.int_op("lshr", h, 27)), 0x3C79AC492BA7B653)
        h = code.int_op("mul", code.int_op("xor", h, code.int_op("lshr", h, 33)), 0x1C69B3F74AC4AE35)
        h = code.int_op("xor", h, code.int_op("lshr", h, 27))
    value = code.from_integers(code.int_op("lshr", h, 12))
    return code.mul(code.add(value, code.const(0.5)), code.const(2.0**-52))


FUNCTIONS: dict[str, tuple[int, Callable[..., str]]] = {
    "gs_far_sin": (2, _far("sin")),
    "gs_far_cos": (2, _far("cos")),
    "gs_exp": (1, _exp),
    "gs_log": (1, _log),
    "gs_atan2": (2, _atan2),
    "gs_pow": (2, _pow),
    "gs_mod": (2, _mod),
    "gs_uniform": (4, _uniform),
}


def define(name: str, like: Spelt) -> Spelt:
    """The module's function `name`, for the target of `like`: a Code whose lines are the whole definition."""
    arity, write = FUNCTIONS[name]
    code = like.fresh().in_double()
    names = [f"x{k}" for k in range(arity)]
    result = write(code, *map(code.argument, names))
    code.elementary(name, names, result, rare=name.startswith("gs_far"))
    return code
