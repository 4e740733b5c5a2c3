/* The functions of FMI 2.0, for core.h. The types are those of the standard. */
#include <stddef.h>

#if defined(_WIN32)
#define FMI_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI_EXPORT __attribute__((visibility("default")))
#else
#define FMI_EXPORT
#endif

/* Where several FMUs are linked into one program, names begin with FMI2_FUNCTION_PREFIX. */
#ifdef FMI2_FUNCTION_PREFIX
#define FMI_PASTE(a, b) a##b
#define FMI_PASTED(a, b) FMI_PASTE(a, b)
#define FMI(name) FMI_PASTED(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
typedef struct {
    fmi2CallbackLogger logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;
typedef fmi2CallbackLogger gs_logger;

#include "core.h"

static void gs_say(const gs_instance *self, const char *message)
{
    if (self->logger != NULL) {
        self->logger(self->environment, self->name, fmi2Error, "logStatusError", "%s", message);
    }
}

static fmi2Status status_of(bool done)
{
    return done ? fmi2OK : fmi2Error;
}

/* What this FMU has not: refused, and said so. */
static fmi2Status refused(fmi2Component component, const char *what)
{
    if (component != NULL) {
        char message[GS_MESSAGE];
        (void)snprintf(message, sizeof message, "%s: this FMU has none.", what);
        gs_say((const gs_instance *)component, message);
    }
    return fmi2Error;
}

FMI_EXPORT const char *FMI(fmi2GetTypesPlatform)(void)
{
    return "default";
}

FMI_EXPORT const char *FMI(fmi2GetVersion)(void)
{
    return "2.0";
}

FMI_EXPORT fmi2Status FMI(fmi2SetDebugLogging)(fmi2Component component, fmi2Boolean on, size_t count, const fmi2String categories[])
{
    (void)on; /* errors are told in any case, and there is nothing else to tell */
    (void)count;
    (void)categories;
    return status_of(component != NULL);
}

FMI_EXPORT fmi2Component FMI(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logs)
{
    const int kind = (type == fmi2CoSimulation) ? GS_CO_SIMULATION : GS_MODEL_EXCHANGE;
    const bool has = (kind == GS_CO_SIMULATION) ? (GS_HAS_CO_SIMULATION != 0) : (GS_HAS_MODEL_EXCHANGE != 0);
    const fmi2CallbackLogger logger = (functions != NULL) ? functions->logger : NULL;
    const fmi2ComponentEnvironment environment = (functions != NULL) ? functions->componentEnvironment : NULL;
    const char *wrong = NULL;
    gs_instance *self = NULL;
    (void)resources;
    (void)visible;
    (void)logs;
    if ((guid == NULL) || (strcmp(guid, GS_TOKEN) != 0)) {
        wrong = "the GUID is not that of this FMU: its description belongs to another one.";
    } else if (!has) {
        wrong = "this FMU has not that kind of instances.";
    } else {
        /* right */
    }
    if (wrong == NULL) {
        self = gs_new(name, kind, environment, logger);
    } else if (logger != NULL) {
        logger(environment, name, fmi2Error, "logStatusError", "%s", wrong);
    } else {
        /* nobody to tell */
    }
    return self;
}

FMI_EXPORT void FMI(fmi2FreeInstance)(fmi2Component component)
{
    gs_free((gs_instance *)component);
}

FMI_EXPORT fmi2Status FMI(fmi2SetupExperiment)(fmi2Component component, fmi2Boolean tolerance_given, fmi2Real tolerance, fmi2Real start,
    fmi2Boolean stop_given, fmi2Real stop)
{
    gs_instance *self = (gs_instance *)component;
    const bool done = gs_allowed(self, "fmi2SetupExperiment", GS_INSTANTIATED, -1) && isfinite(start);
    (void)tolerance_given;
    (void)tolerance;
    (void)stop_given;
    (void)stop;
    if (done) {
        self->now.epoch = start;
    }
    return status_of(done);
}

FMI_EXPORT fmi2Status FMI(fmi2EnterInitializationMode)(fmi2Component component)
{
    gs_instance *self = (gs_instance *)component;
    return status_of(gs_begin(self, (self != NULL) ? self->now.epoch : 0.0));
}

FMI_EXPORT fmi2Status FMI(fmi2ExitInitializationMode)(fmi2Component component)
{
    return status_of(gs_initialised((gs_instance *)component));
}

static fmi2Status change_mode(fmi2Component component, const char *what, int from, int to, int kind)
{
    gs_instance *self = (gs_instance *)component;
    const bool done = gs_allowed(self, what, from, kind);
    if (done) {
        self->now.mode = to;
    }
    return status_of(done);
}

FMI_EXPORT fmi2Status FMI(fmi2Terminate)(fmi2Component component)
{
    return change_mode(component, "fmi2Terminate", GS_RUNNING, GS_TERMINATED, -1);
}

FMI_EXPORT fmi2Status FMI(fmi2Reset)(fmi2Component component)
{
    if (component != NULL) {
        gs_reset((gs_instance *)component);
    }
    return status_of(component != NULL);
}

/* ---- variables: all are of the type Real */

FMI_EXPORT fmi2Status FMI(fmi2GetReal)(fmi2Component component, const fmi2ValueReference references[], size_t count, fmi2Real values[])
{
    return status_of(gs_get_many((gs_instance *)component, references, count, values, count));
}

FMI_EXPORT fmi2Status FMI(fmi2SetReal)(fmi2Component component, const fmi2ValueReference references[], size_t count, const fmi2Real values[])
{
    return status_of(gs_set_many((gs_instance *)component, references, count, values, count));
}

#define FMI_NO_VARIABLES(TYPE) \
    FMI_EXPORT fmi2Status FMI(fmi2Get##TYPE)(fmi2Component component, const fmi2ValueReference references[], size_t count, \
        fmi2##TYPE values[]) \
    { \
        (void)references; \
        (void)values; \
        return (count == 0U) ? fmi2OK : refused(component, "variables of the type " #TYPE); \
    } \
    FMI_EXPORT fmi2Status FMI(fmi2Set##TYPE)(fmi2Component component, const fmi2ValueReference references[], size_t count, \
        const fmi2##TYPE values[]) \
    { \
        (void)references; \
        (void)values; \
        return (count == 0U) ? fmi2OK : refused(component, "variables of the type " #TYPE); \
    }

FMI_NO_VARIABLES(Integer)
FMI_NO_VARIABLES(Boolean)
FMI_NO_VARIABLES(String)

FMI_EXPORT fmi2Status FMI(fmi2GetDirectionalDerivative)(fmi2Component component, const fmi2ValueReference unknowns[], size_t unknown_count,
    const fmi2ValueReference knowns[], size_t known_count, const fmi2Real seed[], fmi2Real result[])
{
    (void)unknowns;
    (void)unknown_count;
    (void)knowns;
    (void)known_count;
    (void)seed;
    (void)result;
    return refused(component, "directional derivatives");
}

/* ---- snapshots */

FMI_EXPORT fmi2Status FMI(fmi2GetFMUstate)(fmi2Component component, fmi2FMUstate *state)
{
    const bool asked = (component != NULL) && (state != NULL);
    if (asked) {
        *state = gs_snapshot((const gs_instance *)component, *state);
    }
    return status_of(asked && (*state != NULL));
}

FMI_EXPORT fmi2Status FMI(fmi2SetFMUstate)(fmi2Component component, fmi2FMUstate state)
{
    return status_of(gs_restore((gs_instance *)component, state));
}

FMI_EXPORT fmi2Status FMI(fmi2FreeFMUstate)(fmi2Component component, fmi2FMUstate *state)
{
    const bool asked = (component != NULL) && (state != NULL);
    if (asked) {
        free(*state);
        *state = NULL;
    }
    return status_of(asked);
}

FMI_EXPORT fmi2Status FMI(fmi2SerializedFMUstateSize)(fmi2Component component, fmi2FMUstate state, size_t *size)
{
    const bool asked = (component != NULL) && (state != NULL) && (size != NULL);
    if (asked) {
        *size = GS_SERIALIZED;
    }
    return status_of(asked);
}

FMI_EXPORT fmi2Status FMI(fmi2SerializeFMUstate)(fmi2Component component, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    return status_of(gs_serialize((const gs_instance *)component, state, (unsigned char *)bytes, size));
}

FMI_EXPORT fmi2Status FMI(fmi2DeSerializeFMUstate)(fmi2Component component, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    gs_memory *kept =
        (state != NULL) ? gs_deserialize((const gs_instance *)component, (const unsigned char *)bytes, size) : NULL;
    if (kept != NULL) {
        *state = kept;
    }
    return status_of(kept != NULL);
}

/* ---- model exchange */

FMI_EXPORT fmi2Status FMI(fmi2EnterEventMode)(fmi2Component component)
{
    return change_mode(component, "fmi2EnterEventMode", GS_EVENT | GS_CONTINUOUS, GS_EVENT, GS_MODEL_EXCHANGE);
}

FMI_EXPORT fmi2Status FMI(fmi2EnterContinuousTimeMode)(fmi2Component component)
{
    return change_mode(component, "fmi2EnterContinuousTimeMode", GS_EVENT, GS_CONTINUOUS, GS_MODEL_EXCHANGE);
}

FMI_EXPORT fmi2Status FMI(fmi2NewDiscreteStates)(fmi2Component component, fmi2EventInfo *info)
{
    gs_instance *self = (gs_instance *)component;
    const bool done = gs_allowed(self, "fmi2NewDiscreteStates", GS_EVENT, GS_MODEL_EXCHANGE) && (info != NULL);
    if (done) {
        const double time = gs_at_event(self);
        info->newDiscreteStatesNeeded = 0;
        info->terminateSimulation = 0;
        info->nominalsOfContinuousStatesChanged = 0;
        info->valuesOfContinuousStatesChanged = 0;
        info->nextEventTimeDefined = isfinite(time) ? 1 : 0;
        info->nextEventTime = isfinite(time) ? time : 0.0;
    }
    return status_of(done);
}

FMI_EXPORT fmi2Status FMI(fmi2CompletedIntegratorStep)(fmi2Component component, fmi2Boolean no_return, fmi2Boolean *enter_event_mode,
    fmi2Boolean *terminate)
{
    const bool done = gs_allowed((const gs_instance *)component, "fmi2CompletedIntegratorStep", GS_CONTINUOUS, GS_MODEL_EXCHANGE);
    (void)no_return;
    if (done) {
        *enter_event_mode = 0;
        *terminate = 0;
    }
    return status_of(done);
}

FMI_EXPORT fmi2Status FMI(fmi2SetTime)(fmi2Component component, fmi2Real time)
{
    return status_of(gs_set_time((gs_instance *)component, time));
}

FMI_EXPORT fmi2Status FMI(fmi2SetContinuousStates)(fmi2Component component, const fmi2Real states[], size_t count)
{
    return status_of(gs_set_states((gs_instance *)component, states, count));
}

FMI_EXPORT fmi2Status FMI(fmi2GetContinuousStates)(fmi2Component component, fmi2Real states[], size_t count)
{
    return status_of(gs_get_states((gs_instance *)component, states, count, 0));
}

FMI_EXPORT fmi2Status FMI(fmi2GetDerivatives)(fmi2Component component, fmi2Real rates[], size_t count)
{
    return status_of(gs_get_states((gs_instance *)component, rates, count, 1));
}

FMI_EXPORT fmi2Status FMI(fmi2GetNominalsOfContinuousStates)(fmi2Component component, fmi2Real nominals[], size_t count)
{
    return status_of(gs_get_states((gs_instance *)component, nominals, count, 2));
}

FMI_EXPORT fmi2Status FMI(fmi2GetEventIndicators)(fmi2Component component, fmi2Real indicators[], size_t count)
{
    (void)indicators;
    return (count == 0U) ? status_of(component != NULL) : refused(component, "event indicators");
}

/* ---- co-simulation */

FMI_EXPORT fmi2Status FMI(fmi2SetRealInputDerivatives)(fmi2Component component, const fmi2ValueReference references[], size_t count,
    const fmi2Integer orders[], const fmi2Real values[])
{
    (void)references;
    (void)count;
    (void)orders;
    (void)values;
    return refused(component, "derivatives of inputs");
}

FMI_EXPORT fmi2Status FMI(fmi2GetRealOutputDerivatives)(fmi2Component component, const fmi2ValueReference references[], size_t count,
    const fmi2Integer orders[], fmi2Real values[])
{
    (void)references;
    (void)count;
    (void)orders;
    (void)values;
    return refused(component, "derivatives of outputs");
}

FMI_EXPORT fmi2Status FMI(fmi2DoStep)(fmi2Component component, fmi2Real point, fmi2Real length, fmi2Boolean no_set_state)
{
    (void)no_set_state;
    return status_of(gs_advance((gs_instance *)component, point, length));
}

FMI_EXPORT fmi2Status FMI(fmi2CancelStep)(fmi2Component component)
{
    return refused(component, "steps that go on after fmi2DoStep");
}

FMI_EXPORT fmi2Status FMI(fmi2GetStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)kind;
    (void)value;
    return refused(component, "steps that go on after fmi2DoStep");
}

FMI_EXPORT fmi2Status FMI(fmi2GetRealStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value)
{
    const gs_instance *self = (const gs_instance *)component;
    const bool done = (self != NULL) && (kind == fmi2LastSuccessfulTime) && (value != NULL);
    if (done) {
        *value = self->now.t + self->now.epoch;
    }
    return status_of(done);
}

FMI_EXPORT fmi2Status FMI(fmi2GetIntegerStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind;
    (void)value;
    return refused(component, "a status that is an integer");
}

FMI_EXPORT fmi2Status FMI(fmi2GetBooleanStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value)
{
    const bool done = (component != NULL) && (kind == fmi2Terminated) && (value != NULL);
    if (done) {
        *value = 0;
    }
    return status_of(done);
}

FMI_EXPORT fmi2Status FMI(fmi2GetStringStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind;
    (void)value;
    return refused(component, "a status that is text");
}
