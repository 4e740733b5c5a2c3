/*
 * What an FMU of gyrostat does, whatever the version of the standard: its memory, its variables by value reference, steps of
 * the classical Runge-Kutta method of order 4, and what may be called when. fmi2.c and fmi3.c give it the standard's functions.
 *
 * Time is counted from the start of the experiment (`epoch`): samples of a law and steps are as fine wherever that is.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_data.h"

enum { GS_INSTANTIATED = 1, GS_INITIALIZATION = 2, GS_STEP_MODE = 4, GS_EVENT = 8, GS_CONTINUOUS = 16, GS_TERMINATED = 32, GS_FAILED = 64 };
enum { GS_MODEL_EXCHANGE, GS_CO_SIMULATION };
#define GS_RUNNING (GS_STEP_MODE | GS_EVENT | GS_CONTINUOUS)
#define GS_ANY (GS_INSTANTIATED | GS_INITIALIZATION | GS_RUNNING | GS_TERMINATED | GS_FAILED)
#define GS_MESSAGE 400

/* Value references, in this order; reference 0 is time. */
#define GS_AT_STATES 1U
#define GS_AT_RATES (GS_AT_STATES + GS_NY)
#define GS_AT_INPUTS (GS_AT_RATES + GS_NY)
#define GS_AT_PARAMETERS (GS_AT_INPUTS + GS_NU)
#define GS_AT_STEP (GS_AT_PARAMETERS + GS_NP)
#define GS_AT_OUTPUTS (GS_AT_STEP + 1U)
#define GS_AT_END (GS_AT_OUTPUTS + GS_NO)

/* Arrays of C have at least one entry. */
#define GS_ROOM(n) ((n) > 0U ? (n) : 1U)

/* All that the next step depends on: what a snapshot holds. */
typedef struct {
    double t; /* since the epoch */
    double epoch;
    double step;
    double samples; /* taken, or due */
    double y[GS_ROOM(GS_NY)];
    double held[GS_ROOM(GS_NH)];
    double u[GS_ROOM(GS_NU)];
    double p[GS_ROOM(GS_NP)];
    unsigned jump; /* the next of gs_jumps */
    int due;       /* a sample is to be taken, with the inputs as they are when time goes on */
    int mode;
} gs_memory;

typedef struct {
    gs_memory now;
    int kind;
    void *environment;
    gs_logger logger; /* of each version of the standard, declared before this file */
    char *name;
    bool rates_known;
    bool outputs_known;
    double rates[GS_ROOM(GS_NY)];
    double outputs[GS_ROOM(GS_NO)];
} gs_instance;

/* To the importer; of each version of the standard. */
static void gs_say(const gs_instance *self, const char *message);

static void gs_reset(gs_instance *self)
{
    (void)memset(&self->now, 0, sizeof self->now);
    (void)memcpy(self->now.y, gs_start_y, sizeof gs_start_y);
    (void)memcpy(self->now.held, gs_start_held, sizeof gs_start_held);
    (void)memcpy(self->now.u, gs_start_u, sizeof gs_start_u);
    (void)memcpy(self->now.p, gs_start_p, sizeof gs_start_p);
    self->now.step = GS_STEP;
    self->now.due = GS_SAMPLED;
    self->now.mode = GS_INSTANTIATED;
    self->rates_known = false;
    self->outputs_known = false;
}

static gs_instance *gs_new(const char *name, int kind, void *environment, gs_logger logger)
{
    gs_instance *self = (gs_instance *)calloc(1U, sizeof *self);
    const char *given = (name == NULL) ? "" : name;
    if (self != NULL) {
        self->name = (char *)calloc(strlen(given) + 1U, 1U);
        if (self->name == NULL) {
            free(self);
            self = NULL;
        }
    }
    if (self != NULL) {
        (void)memcpy(self->name, given, strlen(given) + 1U);
        self->kind = kind;
        self->environment = environment;
        self->logger = logger;
        gs_reset(self);
    }
    return self;
}

static void gs_free(gs_instance *self)
{
    if (self != NULL) {
        free(self->name);
        free(self);
    }
}

static double gs_norm(const double Q[4])
{
    return sqrt((Q[0] * Q[0]) + (Q[1] * Q[1]) + (Q[2] * Q[2]) + (Q[3] * Q[3]));
}

static void gs_changed(gs_instance *self)
{
    self->rates_known = false;
    self->outputs_known = false;
}

static const char *gs_mode_name(int mode)
{
    const char *name = "after an error";
    switch (mode) {
    case GS_INSTANTIATED: name = "before initialization"; break;
    case GS_INITIALIZATION: name = "in initialization mode"; break;
    case GS_STEP_MODE: name = "in step mode"; break;
    case GS_EVENT: name = "in event mode"; break;
    case GS_CONTINUOUS: name = "in continuous-time mode"; break;
    case GS_TERMINATED: name = "after termination"; break;
    default: break;
    }
    return name;
}

/* Whether a function may be called now; says so if not. kind: -1 for both. */
static bool gs_allowed(const gs_instance *self, const char *what, int modes, int kind)
{
    char message[GS_MESSAGE];
    bool allowed = self != NULL;
    if (allowed && ((kind >= 0) && (self->kind != kind))) {
        (void)snprintf(message, sizeof message, "%s: the instance is one of %s.", what,
            (self->kind == GS_CO_SIMULATION) ? "co-simulation" : "model exchange");
        gs_say(self, message);
        allowed = false;
    } else if (allowed && ((self->now.mode & modes) == 0)) {
        (void)snprintf(message, sizeof message, "%s cannot be called %s.", what, gs_mode_name(self->now.mode));
        gs_say(self, message);
        allowed = false;
    } else {
        /* nothing to say */
    }
    return allowed;
}

/* Times nearer than this are one. */
static double gs_close(const gs_memory *now)
{
    return 1e-12 * fmax(1.0, fmax(fabs(now->t), fabs(now->epoch)));
}

/* The next time at which loads jump, since the epoch. */
static double gs_next_jump(const gs_memory *now)
{
    return ((now->jump + 1U) <= GS_NJ) ? (gs_jumps[now->jump] - now->epoch) : (double)INFINITY;
}

static void gs_pass_jumps(gs_memory *now)
{
    while (gs_next_jump(now) <= (now->t + gs_close(now))) {
        now->jump += 1U;
    }
}

/* The number just below a time: stages do not look beyond a jump. */
static double gs_before(double stop)
{
    return (stop < (double)INFINITY) ? (stop - (fabs(stop) * 0x1p-53) - 0x1p-1074) : stop;
}

/* What a law holds now: where a sample is due, what it would be with the inputs as they are. */
static void gs_held(const gs_memory *now, double held[])
{
    (void)memcpy(held, now->held, sizeof now->held);
    if (now->due != 0) {
        gs_update(now->t, now->epoch, now->y, now->held, now->u, now->p, held);
    }
}

static const double *gs_rates_now(gs_instance *self)
{
    if (!self->rates_known) {
        const gs_memory *now = &self->now;
        double held[GS_ROOM(GS_NH)];
        gs_held(now, held);
        gs_rates(fmin(now->t, gs_before(gs_next_jump(now))), now->epoch, now->y, held, now->u, now->p, self->rates);
        self->rates_known = true;
    }
    return self->rates;
}

static const double *gs_outputs_now(gs_instance *self)
{
    if (!self->outputs_known) {
        const gs_memory *now = &self->now;
        double held[GS_ROOM(GS_NH)];
        gs_held(now, held);
        gs_outputs(fmin(now->t, gs_before(gs_next_jump(now))), now->epoch, now->y, held, now->u, now->p, self->outputs);
        self->outputs_known = true;
    }
    return self->outputs;
}

/* One of the states. In co-simulation quaternions are shown with norm one, whatever round-off and steps have left of it. */
static double gs_state(const gs_instance *self, unsigned place)
{
    double value = self->now.y[place];
    if (self->now.mode == GS_STEP_MODE) {
        for (unsigned k = 0U; (k + 1U) <= GS_NQUATERNIONS; ++k) {
            const double *Q = &self->now.y[gs_quaternions[k]];
            if ((place >= gs_quaternions[k]) && (place < (gs_quaternions[k] + 4U))) {
                value = value / gs_norm(Q);
            }
        }
    }
    return value;
}

static bool gs_get(gs_instance *self, unsigned reference, double *value)
{
    bool found = true;
    if (reference == 0U) {
        *value = self->now.t + self->now.epoch;
    } else if (reference < GS_AT_RATES) {
        *value = gs_state(self, reference - GS_AT_STATES);
    } else if (reference < GS_AT_INPUTS) {
        *value = gs_rates_now(self)[reference - GS_AT_RATES];
    } else if (reference < GS_AT_PARAMETERS) {
        *value = self->now.u[reference - GS_AT_INPUTS];
    } else if (reference < GS_AT_STEP) {
        *value = self->now.p[reference - GS_AT_PARAMETERS];
    } else if (reference == GS_AT_STEP) {
        *value = self->now.step;
    } else if (reference < GS_AT_END) {
        *value = gs_outputs_now(self)[reference - GS_AT_OUTPUTS];
    } else {
        char message[GS_MESSAGE];
        (void)snprintf(message, sizeof message, "there is no variable with the value reference %u.", reference);
        gs_say(self, message);
        found = false;
    }
    return found;
}

/* Whether a value may be set now, and is one. */
static bool gs_settable(const gs_instance *self, unsigned reference, double value, int modes, double least)
{
    char message[GS_MESSAGE];
    const bool may = (self->now.mode & modes) != 0;
    const bool right = isfinite(value) && (value >= least);
    if (!may) {
        (void)snprintf(message, sizeof message, "the variable with the value reference %u cannot be set %s.", reference,
            gs_mode_name(self->now.mode));
        gs_say(self, message);
    } else if (!right) {
        (void)snprintf(message, sizeof message, "the variable with the value reference %u is set to %.17g; expected a finite number%s.",
            reference, value, (least > -(double)INFINITY) ? ", not below its minimum" : "");
        gs_say(self, message);
    } else {
        /* nothing to say */
    }
    return may && right;
}

static bool gs_set(gs_instance *self, unsigned reference, double value)
{
    const int start = GS_INSTANTIATED | GS_INITIALIZATION;
    const double none = -(double)INFINITY;
    bool done = false;
    if ((reference >= GS_AT_STATES) && (reference < GS_AT_RATES)) {
        done = gs_settable(self, reference, value, start, none);
        if (done) { self->now.y[reference - GS_AT_STATES] = value; }
    } else if ((reference >= GS_AT_INPUTS) && (reference < GS_AT_PARAMETERS)) {
        done = gs_settable(self, reference, value, start | GS_RUNNING, none);
        if (done) { self->now.u[reference - GS_AT_INPUTS] = value; }
    } else if ((reference >= GS_AT_PARAMETERS) && (reference < GS_AT_STEP)) {
        done = gs_settable(self, reference, value, start | GS_STEP_MODE | GS_EVENT, gs_least_p[reference - GS_AT_PARAMETERS]);
        if (done) { self->now.p[reference - GS_AT_PARAMETERS] = value; }
    } else if (reference == GS_AT_STEP) {
        done = gs_settable(self, reference, value, start, 0x1p-1074);
        if (done) { self->now.step = value; }
    } else {
        char message[GS_MESSAGE];
        (void)snprintf(message, sizeof message, "the variable with the value reference %u is computed, or is not there: it cannot be set.",
            reference);
        gs_say(self, message);
    }
    gs_changed(self);
    return done;
}

static bool gs_get_many(gs_instance *self, const unsigned references[], size_t count, double values[], size_t room)
{
    bool done = gs_allowed(self, "getting values", GS_ANY, -1);
    if (done && (room != count)) {
        gs_say(self, "getting values: all variables are numbers, one value for each.");
        done = false;
    }
    for (size_t k = 0U; done && (k < count); ++k) {
        done = gs_get(self, references[k], &values[k]);
    }
    return done;
}

static bool gs_set_many(gs_instance *self, const unsigned references[], size_t count, const double values[], size_t room)
{
    bool done = gs_allowed(self, "setting values", GS_INSTANTIATED | GS_INITIALIZATION | GS_RUNNING, -1);
    if (done && (room != count)) {
        gs_say(self, "setting values: all variables are numbers, one value for each.");
        done = false;
    }
    for (size_t k = 0U; done && (k < count); ++k) {
        done = gs_set(self, references[k], values[k]);
    }
    return done;
}

/* Whether the tables that the model reads know a time; says so if not. */
static bool gs_known(const gs_instance *self, double time)
{
    const double close = 1e-12 * fmax(1.0, fabs(time));
    const bool known = (time >= (gs_span[0] - close)) && (time <= (gs_span[1] + close));
    if (!known) {
        char message[GS_MESSAGE];
        (void)snprintf(message, sizeof message, "time %.17g s: the environment's tables are known from %.9g s to %.9g s.", time,
            gs_span[0], gs_span[1]);
        gs_say(self, message);
    }
    return known;
}

/* ---- initialization */

static bool gs_begin(gs_instance *self, double start)
{
    bool done = gs_allowed(self, "entering initialization mode", GS_INSTANTIATED, -1);
    if (done && !isfinite(start)) {
        gs_say(self, "the start time is no finite number.");
        done = false;
    }
    done = done && gs_known(self, start);
    if (done) {
        self->now.epoch = start;
        self->now.t = 0.0;
        self->now.jump = 0U;
        gs_pass_jumps(&self->now);
        self->now.mode = GS_INITIALIZATION;
        gs_changed(self);
    }
    return done;
}

static bool gs_initialised(gs_instance *self)
{
    bool done = gs_allowed(self, "leaving initialization mode", GS_INITIALIZATION, -1);
    for (unsigned k = 0U; done && ((k + 1U) <= GS_NQUATERNIONS); ++k) {
        const double *Q = &self->now.y[gs_quaternions[k]];
        const double norm = gs_norm(Q);
        if (!(fabs(norm - 1.0) <= 1e-6)) {
            char message[GS_MESSAGE];
            (void)snprintf(message, sizeof message, "the quaternion from value reference %u on has norm %.9g at the start; expected 1.",
                gs_quaternions[k] + GS_AT_STATES, norm);
            gs_say(self, message);
            done = false;
        }
    }
    if (done) {
        self->now.mode = (self->kind == GS_CO_SIMULATION) ? GS_STEP_MODE : GS_EVENT;
    }
    return done;
}

/* ---- co-simulation */

/* One step of the classical method; false where it leaves the finite numbers. */
static bool gs_rk4(gs_memory *now, double t_new, double h, double before)
{
    static const double c[4] = {0.0, 0.5, 0.5, 1.0};
    static const double b[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    double stage[GS_ROOM(GS_NY)];
    double slope[GS_ROOM(GS_NY)] = {0.0};
    double sum[GS_ROOM(GS_NY)] = {0.0};
    double size = 0.0;
    for (unsigned s = 0U; s < 4U; ++s) {
        for (unsigned k = 0U; k < GS_NY; ++k) {
            stage[k] = now->y[k] + (h * (c[s] * slope[k]));
        }
        gs_rates(fmin(now->t + (c[s] * h), before), now->epoch, stage, now->held, now->u, now->p, slope);
        for (unsigned k = 0U; k < GS_NY; ++k) {
            sum[k] += b[s] * slope[k];
        }
    }
    for (unsigned k = 0U; k < GS_NY; ++k) {
        stage[k] = now->y[k] + (h * sum[k]);
        size += fabs(stage[k]);
    }
    if (isfinite(size)) {
        (void)memcpy(now->y, stage, sizeof stage);
        now->t = t_new;
    }
    return isfinite(size);
}

/* To `end` since the epoch, in steps that end at jumps, samples and there. */
static bool gs_go(gs_memory *now, double end)
{
    bool good = true;
    while (good && (now->t < end)) {
        double stop = fmin(end, gs_next_jump(now));
        const double close = gs_close(now);
        if (now->due != 0) {
            double held[GS_ROOM(GS_NH)];
            gs_held(now, held);
            (void)memcpy(now->held, held, sizeof held);
            now->due = 0;
            now->samples += 1.0;
        }
        if ((GS_SAMPLED != 0) && ((now->samples * GS_PERIOD) < (stop - close))) {
            stop = now->samples * GS_PERIOD;
        }
        stop = ((end - stop) <= close) ? end : stop;
        const double rest = stop - now->t;
        const bool last = rest <= (now->step * (1.0 + 1e-6)); /* rather a slightly longer step than a sliver */
        const double h = last ? rest : now->step;
        const double t_new = last ? stop : (now->t + h);
        good = (t_new > now->t) && gs_rk4(now, t_new, h, gs_before(stop));
        gs_pass_jumps(now);
        if ((GS_SAMPLED != 0) && good && ((now->samples * GS_PERIOD) <= (now->t + gs_close(now)))) {
            now->due = 1;
        }
    }
    return good;
}

/* A time since the epoch; whole numbers of steps are that, however coarse the importer's clock is there. */
static double gs_inside(const gs_memory *now, double time)
{
    const double since = time - now->epoch;
    const double whole = now->step * nearbyint(since / now->step);
    const double coarse = nextafter(fabs(time), (double)INFINITY) - fabs(time);
    return ((now->epoch != 0.0) && (fabs(whole - since) <= coarse)) ? whole : since;
}

static bool gs_advance(gs_instance *self, double point, double length)
{
    char message[GS_MESSAGE];
    bool done = gs_allowed(self, "a step", GS_STEP_MODE, GS_CO_SIMULATION);
    if (done && !(isfinite(length) && (length > 0.0) && isfinite(point))) {
        (void)snprintf(message, sizeof message, "a step of %.17g s from %.17g s; expected a finite one, more than zero.", length, point);
        gs_say(self, message);
        done = false;
    }
    if (done && (fabs((point - self->now.epoch) - self->now.t) > (1e-9 * (1.0 + fabs(point) + length)))) {
        (void)snprintf(message, sizeof message, "a step from %.17g s; the instance is at %.17g s.", point, self->now.t + self->now.epoch);
        gs_say(self, message);
        done = false;
    }
    done = done && gs_known(self, point + length);
    if (done) {
        done = gs_go(&self->now, gs_inside(&self->now, point + length));
        gs_changed(self);
        if (!done) {
            (void)snprintf(message, sizeof message,
                "numbers are no longer finite after %.17g s, or steps of %.3g s are too short to be told from none there.",
                self->now.t + self->now.epoch, self->now.step);
            gs_say(self, message);
            self->now.mode = GS_FAILED;
        }
    }
    return done;
}

/* ---- model exchange */

static bool gs_set_time(gs_instance *self, double t)
{
    bool done = gs_allowed(self, "setting time", GS_EVENT | GS_CONTINUOUS, GS_MODEL_EXCHANGE);
    if (done && !isfinite(t)) {
        gs_say(self, "time is set to what is no finite number.");
        done = false;
    }
    done = done && gs_known(self, t);
    if (done) {
        self->now.t = t - self->now.epoch;
        gs_changed(self);
    }
    return done;
}

static bool gs_set_states(gs_instance *self, const double y[], size_t count)
{
    bool done = gs_allowed(self, "setting continuous states", GS_EVENT | GS_CONTINUOUS, GS_MODEL_EXCHANGE);
    if (done && (count != GS_NY)) {
        gs_say(self, "setting continuous states: not as many as there are.");
        done = false;
    }
    for (size_t k = 0U; done && (k < count); ++k) {
        self->now.y[k] = y[k];
    }
    if (done) {
        gs_changed(self);
    }
    return done;
}

/* which: 0 for the states, 1 for their rates, 2 for their nominal values */
static bool gs_get_states(gs_instance *self, double into[], size_t count, int which)
{
    bool done = gs_allowed(self, "getting continuous states", GS_ANY, GS_MODEL_EXCHANGE);
    if (done && (count != GS_NY)) {
        gs_say(self, "getting continuous states: not as many as there are.");
        done = false;
    }
    if (done) {
        const double *rates = (which == 1) ? gs_rates_now(self) : NULL;
        for (size_t k = 0U; k < count; ++k) {
            into[k] = (which == 0) ? self->now.y[k] : ((which == 1) ? rates[k] : 1.0);
        }
    }
    return done;
}

/* Past the jumps of now. Returns the time of the next one; infinite if there is none. */
static double gs_at_event(gs_instance *self)
{
    gs_pass_jumps(&self->now);
    gs_changed(self);
    return gs_next_jump(&self->now) + self->now.epoch;
}

/* ---- snapshots */

static gs_memory *gs_snapshot(const gs_instance *self, void *earlier)
{
    gs_memory *kept = (earlier != NULL) ? (gs_memory *)earlier : (gs_memory *)calloc(1U, sizeof *kept);
    if (kept != NULL) {
        *kept = self->now;
    }
    return kept;
}

static bool gs_restore(gs_instance *self, const void *kept)
{
    const bool done = gs_allowed(self, "setting the FMU state", GS_ANY, -1) && (kept != NULL);
    if (done) {
        self->now = *(const gs_memory *)kept;
        gs_changed(self);
    }
    return done;
}

/* The token goes before the memory, so that another FMU's is told from it. */
#define GS_SERIALIZED (sizeof GS_TOKEN + sizeof(gs_memory))

static bool gs_serialize(const gs_instance *self, const void *kept, unsigned char bytes[], size_t size)
{
    const bool done = (self != NULL) && (kept != NULL) && (bytes != NULL) && (size >= GS_SERIALIZED);
    if (done) {
        (void)memcpy(bytes, GS_TOKEN, sizeof GS_TOKEN);
        (void)memcpy(&bytes[sizeof GS_TOKEN], kept, sizeof(gs_memory));
    }
    return done;
}

static gs_memory *gs_deserialize(const gs_instance *self, const unsigned char bytes[], size_t size)
{
    gs_memory *kept = NULL;
    if ((self != NULL) && (bytes != NULL) && (size >= GS_SERIALIZED) && (memcmp(bytes, GS_TOKEN, sizeof GS_TOKEN) == 0)) {
        kept = (gs_memory *)calloc(1U, sizeof *kept);
        if (kept != NULL) {
            (void)memcpy(kept, &bytes[sizeof GS_TOKEN], sizeof(gs_memory));
        }
    } else if (self != NULL) {
        gs_say(self, "the bytes are not those of a state of this FMU.");
    } else {
        /* nobody to tell */
    }
    return kept;
}
