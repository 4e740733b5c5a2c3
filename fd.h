/*
 * fd.
 * Made by gyrostat 0.1.0 from the graph fd ab8a00225265e1d3. Not to be edited: make it anew.
 *
 * C99, double; no allocation, no recursion, no state of its own; math.h alone.
 * Arrays are in C order (the last index runs fastest).
 * All inputs are read before the first output is written: they may be the same arrays.
 */

#ifndef FD_H
#define FD_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * fd: forward_dynamics, 3093 operations; at most 24952 bytes of locals.
 *   in  q: 11 numbers, configuration
 *   in  v: 11 numbers, rates
 *   in  tau: 11 numbers, loads
 *   out  forward_dynamics: 11 numbers
 */

void fd(const double q[11],
    const double v[11],
    const double tau[11],
    double forward_dynamics[11]);

#ifdef __cplusplus
}
#endif

#endif /* FD_H */
