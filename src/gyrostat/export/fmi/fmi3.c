/* The functions of FMI 3.0, for core.h. The types are those of the standard. */
#include <stdint.h>

#if defined(_WIN32)
#define FMI_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI_EXPORT __attribute__((visibility("default")))
#else
#define FMI_EXPORT
#endif

/* Where several FMUs are linked into one program, names begin with FMI3_FUNCTION_PREFIX. */
#ifdef FMI3_FUNCTION_PREFIX
#define FMI_PASTE(a, b) a##b
#define FMI_PASTED(a, b) FMI_PASTE(a, b)
#define FMI(name) FMI_PASTED(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef _Bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef _Bool fmi3Clock;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef int fmi3DependencyKind; /* an enumeration; none is ever given */
typedef int fmi3IntervalQualifier;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean,
    fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);
typedef fmi3LogMessageCallback gs_logger;

#include "core.h"

static void gs_say(const gs_instance *self, const char *message)
{
    if (self->logger != NULL) {
        self->logger(self->environment, fmi3Error, "logStatusError", message);
    }
}

static fmi3Status status_of(bool done)
{
    return done ? fmi3OK : fmi3Error;
}

/* What this FMU has not: refused, and said so. */
static fmi3Status refused(fmi3Instance instance, const char *what)
{
    if (instance != NULL) {
        char message[GS_MESSAGE];
        (void)snprintf(message, sizeof message, "%s: this FMU has none.", what);
        gs_say((const gs_instance *)instance, message);
    }
    return fmi3Error;
}

static fmi3Instance instance_of(fmi3String name, fmi3String token, int kind, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback logger, const char *wrong)
{
    const bool same = (token != NULL) && (strcmp(token, GS_TOKEN) == 0);
    gs_instance *self = NULL;
    const char *message = same ? wrong : "the instantiation token is not that of this FMU: its description belongs to another one.";
    if (message == NULL) {
        self = gs_new(name, kind, environment, logger);
    } else if (logger != NULL) {
        logger(environment, fmi3Error, "logStatusError", message);
    } else {
        /* nobody to tell */
    }
    return self;
}

FMI_EXPORT const char *FMI(fmi3GetVersion)(void)
{
    return "3.0";
}

FMI_EXPORT fmi3Status FMI(fmi3SetDebugLogging)(fmi3Instance instance, fmi3Boolean on, size_t count, const fmi3String categories[])
{
    (void)on; /* errors are told in any case, and there is nothing else to tell */
    (void)count;
    (void)categories;
    return status_of(instance != NULL);
}

FMI_EXPORT fmi3Instance FMI(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logs, fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger)
{
    (void)resources;
    (void)visible;
    (void)logs;
    return instance_of(name, token, GS_MODEL_EXCHANGE, environment, logger,
        (GS_HAS_MODEL_EXCHANGE != 0) ? NULL : "this FMU has no model exchange.");
}

FMI_EXPORT fmi3Instance FMI(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logs, fmi3Boolean event_mode, fmi3Boolean early_return, const fmi3ValueReference intermediate[], size_t count,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger, fmi3IntermediateUpdateCallback update)
{
    const char *wrong = NULL;
    (void)resources;
    (void)visible;
    (void)logs;
    (void)early_return;
    (void)intermediate;
    (void)update;
    if (GS_HAS_CO_SIMULATION == 0) {
        wrong = "this FMU has no co-simulation.";
    } else if (event_mode || (count > 0U)) {
        wrong = "this FMU has no event mode in co-simulation, and no intermediate update.";
    } else {
        /* right */
    }
    return instance_of(name, token, GS_CO_SIMULATION, environment, logger, wrong);
}

FMI_EXPORT fmi3Instance FMI(fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logs, fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger,
    fmi3ClockUpdateCallback clock, fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)resources;
    (void)visible;
    (void)logs;
    (void)clock;
    (void)lock;
    (void)unlock;
    return instance_of(name, token, GS_CO_SIMULATION, environment, logger, "this FMU has no scheduled execution.");
}

FMI_EXPORT void FMI(fmi3FreeInstance)(fmi3Instance instance)
{
    gs_free((gs_instance *)instance);
}

FMI_EXPORT fmi3Status FMI(fmi3EnterInitializationMode)(fmi3Instance instance, fmi3Boolean tolerance_given, fmi3Float64 tolerance,
    fmi3Float64 start, fmi3Boolean stop_given, fmi3Float64 stop)
{
    (void)tolerance_given;
    (void)tolerance;
    (void)stop_given;
    (void)stop;
    return status_of(gs_begin((gs_instance *)instance, start));
}

FMI_EXPORT fmi3Status FMI(fmi3ExitInitializationMode)(fmi3Instance instance)
{
    return status_of(gs_initialised((gs_instance *)instance));
}

static fmi3Status change_mode(fmi3Instance instance, const char *what, int from, int to, int kind)
{
    gs_instance *self = (gs_instance *)instance;
    const bool done = gs_allowed(self, what, from, kind);
    if (done) {
        self->now.mode = to;
    }
    return status_of(done);
}

FMI_EXPORT fmi3Status FMI(fmi3EnterEventMode)(fmi3Instance instance)
{
    return change_mode(instance, "fmi3EnterEventMode", GS_EVENT | GS_CONTINUOUS, GS_EVENT, GS_MODEL_EXCHANGE);
}

FMI_EXPORT fmi3Status FMI(fmi3EnterContinuousTimeMode)(fmi3Instance instance)
{
    return change_mode(instance, "fmi3EnterContinuousTimeMode", GS_EVENT, GS_CONTINUOUS, GS_MODEL_EXCHANGE);
}

FMI_EXPORT fmi3Status FMI(fmi3EnterStepMode)(fmi3Instance instance)
{
    return refused(instance, "fmi3EnterStepMode: an event mode in co-simulation");
}

FMI_EXPORT fmi3Status FMI(fmi3Terminate)(fmi3Instance instance)
{
    return change_mode(instance, "fmi3Terminate", GS_RUNNING, GS_TERMINATED, -1);
}

FMI_EXPORT fmi3Status FMI(fmi3Reset)(fmi3Instance instance)
{
    if (instance != NULL) {
        gs_reset((gs_instance *)instance);
    }
    return status_of(instance != NULL);
}

/* ---- variables: all are of the type Float64 */

FMI_EXPORT fmi3Status FMI(fmi3GetFloat64)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    fmi3Float64 values[], size_t room)
{
    return status_of(gs_get_many((gs_instance *)instance, references, count, values, room));
}

FMI_EXPORT fmi3Status FMI(fmi3SetFloat64)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    const fmi3Float64 values[], size_t room)
{
    return status_of(gs_set_many((gs_instance *)instance, references, count, values, room));
}

#define FMI_NO_VARIABLES(TYPE) \
    FMI_EXPORT fmi3Status FMI(fmi3Get##TYPE)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
        fmi3##TYPE values[], size_t room) \
    { \
        (void)references; \
        (void)values; \
        (void)room; \
        return (count == 0U) ? fmi3OK : refused(instance, "variables of the type " #TYPE); \
    } \
    FMI_EXPORT fmi3Status FMI(fmi3Set##TYPE)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
        const fmi3##TYPE values[], size_t room) \
    { \
        (void)references; \
        (void)values; \
        (void)room; \
        return (count == 0U) ? fmi3OK : refused(instance, "variables of the type " #TYPE); \
    }

FMI_NO_VARIABLES(Float32)
FMI_NO_VARIABLES(Int8)
FMI_NO_VARIABLES(UInt8)
FMI_NO_VARIABLES(Int16)
FMI_NO_VARIABLES(UInt16)
FMI_NO_VARIABLES(Int32)
FMI_NO_VARIABLES(UInt32)
FMI_NO_VARIABLES(Int64)
FMI_NO_VARIABLES(UInt64)
FMI_NO_VARIABLES(Boolean)
FMI_NO_VARIABLES(String)

FMI_EXPORT fmi3Status FMI(fmi3GetBinary)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, size_t sizes[],
    fmi3Binary values[], size_t room)
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)room;
    return (count == 0U) ? fmi3OK : refused(instance, "variables of the type Binary");
}

FMI_EXPORT fmi3Status FMI(fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, const size_t sizes[],
    const fmi3Binary values[], size_t room)
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)room;
    return (count == 0U) ? fmi3OK : refused(instance, "variables of the type Binary");
}

FMI_EXPORT fmi3Status FMI(fmi3GetClock)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, fmi3Clock values[])
{
    (void)references;
    (void)values;
    return (count == 0U) ? fmi3OK : refused(instance, "clocks");
}

FMI_EXPORT fmi3Status FMI(fmi3SetClock)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, const fmi3Clock values[])
{
    (void)references;
    (void)values;
    return (count == 0U) ? fmi3OK : refused(instance, "clocks");
}

/* ---- dependencies and derivatives of variables: not given */

FMI_EXPORT fmi3Status FMI(fmi3GetNumberOfVariableDependencies)(fmi3Instance instance, fmi3ValueReference reference, size_t *count)
{
    (void)reference;
    (void)count;
    return refused(instance, "dependencies of variables");
}

FMI_EXPORT fmi3Status FMI(fmi3GetVariableDependencies)(fmi3Instance instance, fmi3ValueReference dependent, size_t dependent_elements[],
    fmi3ValueReference independents[], size_t independent_elements[], fmi3DependencyKind kinds[], size_t count)
{
    (void)dependent;
    (void)dependent_elements;
    (void)independents;
    (void)independent_elements;
    (void)kinds;
    (void)count;
    return refused(instance, "dependencies of variables");
}

#define FMI_NO_DERIVATIVES(NAME) \
    FMI_EXPORT fmi3Status FMI(NAME)(fmi3Instance instance, const fmi3ValueReference first[], size_t first_count, \
        const fmi3ValueReference second[], size_t second_count, const fmi3Float64 seed[], size_t seed_count, fmi3Float64 result[], \
        size_t result_count) \
    { \
        (void)first; \
        (void)first_count; \
        (void)second; \
        (void)second_count; \
        (void)seed; \
        (void)seed_count; \
        (void)result; \
        (void)result_count; \
        return refused(instance, "directional and adjoint derivatives"); \
    }

FMI_NO_DERIVATIVES(fmi3GetDirectionalDerivative)
FMI_NO_DERIVATIVES(fmi3GetAdjointDerivative)

FMI_EXPORT fmi3Status FMI(fmi3GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    const fmi3Int32 orders[], fmi3Float64 values[], size_t room)
{
    (void)references;
    (void)count;
    (void)orders;
    (void)values;
    (void)room;
    return refused(instance, "derivatives of outputs");
}

/* ---- snapshots */

FMI_EXPORT fmi3Status FMI(fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    const bool asked = (instance != NULL) && (state != NULL);
    if (asked) {
        *state = gs_snapshot((const gs_instance *)instance, *state);
    }
    return status_of(asked && (*state != NULL));
}

FMI_EXPORT fmi3Status FMI(fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState state)
{
    return status_of(gs_restore((gs_instance *)instance, state));
}

FMI_EXPORT fmi3Status FMI(fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    const bool asked = (instance != NULL) && (state != NULL);
    if (asked) {
        free(*state);
        *state = NULL;
    }
    return status_of(asked);
}

FMI_EXPORT fmi3Status FMI(fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    const bool asked = (instance != NULL) && (state != NULL) && (size != NULL);
    if (asked) {
        *size = GS_SERIALIZED;
    }
    return status_of(asked);
}

FMI_EXPORT fmi3Status FMI(fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    return status_of(gs_serialize((const gs_instance *)instance, state, bytes, size));
}

FMI_EXPORT fmi3Status FMI(fmi3DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    gs_memory *kept = (state != NULL) ? gs_deserialize((const gs_instance *)instance, bytes, size) : NULL;
    if (kept != NULL) {
        *state = kept;
    }
    return status_of(kept != NULL);
}

/* ---- configuration mode and clocks: none */

FMI_EXPORT fmi3Status FMI(fmi3EnterConfigurationMode)(fmi3Instance instance)
{
    return refused(instance, "structural parameters");
}

FMI_EXPORT fmi3Status FMI(fmi3ExitConfigurationMode)(fmi3Instance instance)
{
    return refused(instance, "structural parameters");
}

FMI_EXPORT fmi3Status FMI(fmi3GetIntervalDecimal)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    (void)references;
    (void)count;
    (void)intervals;
    (void)qualifiers;
    return refused(instance, "clocks");
}

FMI_EXPORT fmi3Status FMI(fmi3GetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
{
    (void)references;
    (void)count;
    (void)counters;
    (void)resolutions;
    (void)qualifiers;
    return refused(instance, "clocks");
}

#define FMI_NO_DECIMAL(NAME, CONST) \
    FMI_EXPORT fmi3Status FMI(NAME)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, CONST fmi3Float64 values[]) \
    { \
        (void)references; \
        (void)count; \
        (void)values; \
        return refused(instance, "clocks"); \
    }
#define FMI_NO_FRACTION(NAME, CONST) \
    FMI_EXPORT fmi3Status FMI(NAME)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
        CONST fmi3UInt64 counters[], CONST fmi3UInt64 resolutions[]) \
    { \
        (void)references; \
        (void)count; \
        (void)counters; \
        (void)resolutions; \
        return refused(instance, "clocks"); \
    }
#define FMI_WRITABLE

FMI_NO_DECIMAL(fmi3GetShiftDecimal, FMI_WRITABLE)
FMI_NO_DECIMAL(fmi3SetIntervalDecimal, const)
FMI_NO_DECIMAL(fmi3SetShiftDecimal, const)
FMI_NO_FRACTION(fmi3GetShiftFraction, FMI_WRITABLE)
FMI_NO_FRACTION(fmi3SetIntervalFraction, const)
FMI_NO_FRACTION(fmi3SetShiftFraction, const)

FMI_EXPORT fmi3Status FMI(fmi3ActivateModelPartition)(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time)
{
    (void)clock;
    (void)time;
    return refused(instance, "model partitions");
}

/* ---- model exchange */

FMI_EXPORT fmi3Status FMI(fmi3EvaluateDiscreteStates)(fmi3Instance instance)
{
    return status_of(gs_allowed((const gs_instance *)instance, "fmi3EvaluateDiscreteStates", GS_INITIALIZATION | GS_EVENT, -1));
}

FMI_EXPORT fmi3Status FMI(fmi3UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate,
    fmi3Boolean *nominals_changed, fmi3Boolean *states_changed, fmi3Boolean *next_given, fmi3Float64 *next)
{
    gs_instance *self = (gs_instance *)instance;
    const bool done = gs_allowed(self, "fmi3UpdateDiscreteStates", GS_EVENT, GS_MODEL_EXCHANGE);
    if (done) {
        const double time = gs_at_event(self);
        *again = false;
        *terminate = false;
        *nominals_changed = false;
        *states_changed = false;
        *next_given = isfinite(time);
        *next = isfinite(time) ? time : 0.0;
    }
    return status_of(done);
}

FMI_EXPORT fmi3Status FMI(fmi3CompletedIntegratorStep)(fmi3Instance instance, fmi3Boolean no_return, fmi3Boolean *enter_event_mode,
    fmi3Boolean *terminate)
{
    const bool done = gs_allowed((const gs_instance *)instance, "fmi3CompletedIntegratorStep", GS_CONTINUOUS, GS_MODEL_EXCHANGE);
    (void)no_return;
    if (done) {
        *enter_event_mode = false;
        *terminate = false;
    }
    return status_of(done);
}

FMI_EXPORT fmi3Status FMI(fmi3SetTime)(fmi3Instance instance, fmi3Float64 time)
{
    return status_of(gs_set_time((gs_instance *)instance, time));
}

FMI_EXPORT fmi3Status FMI(fmi3SetContinuousStates)(fmi3Instance instance, const fmi3Float64 states[], size_t count)
{
    return status_of(gs_set_states((gs_instance *)instance, states, count));
}

FMI_EXPORT fmi3Status FMI(fmi3GetContinuousStates)(fmi3Instance instance, fmi3Float64 states[], size_t count)
{
    return status_of(gs_get_states((gs_instance *)instance, states, count, 0));
}

FMI_EXPORT fmi3Status FMI(fmi3GetContinuousStateDerivatives)(fmi3Instance instance, fmi3Float64 rates[], size_t count)
{
    return status_of(gs_get_states((gs_instance *)instance, rates, count, 1));
}

FMI_EXPORT fmi3Status FMI(fmi3GetNominalsOfContinuousStates)(fmi3Instance instance, fmi3Float64 nominals[], size_t count)
{
    return status_of(gs_get_states((gs_instance *)instance, nominals, count, 2));
}

FMI_EXPORT fmi3Status FMI(fmi3GetEventIndicators)(fmi3Instance instance, fmi3Float64 indicators[], size_t count)
{
    (void)indicators;
    return (count == 0U) ? status_of(instance != NULL) : refused(instance, "event indicators");
}

FMI_EXPORT fmi3Status FMI(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count)
{
    if ((instance != NULL) && (count != NULL)) {
        *count = 0U;
    }
    return status_of((instance != NULL) && (count != NULL));
}

FMI_EXPORT fmi3Status FMI(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count)
{
    if ((instance != NULL) && (count != NULL)) {
        *count = GS_NY;
    }
    return status_of((instance != NULL) && (count != NULL));
}

/* ---- co-simulation */

FMI_EXPORT fmi3Status FMI(fmi3DoStep)(fmi3Instance instance, fmi3Float64 point, fmi3Float64 length, fmi3Boolean no_return,
    fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last)
{
    gs_instance *self = (gs_instance *)instance;
    const bool done = gs_advance(self, point, length);
    (void)no_return;
    if (self != NULL) {
        *event_needed = false;
        *terminate = false;
        *early = false;
        *last = done ? (point + length) : (self->now.t + self->now.epoch);
    }
    return status_of(done);
}
