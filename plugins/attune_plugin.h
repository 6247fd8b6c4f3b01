/* A plug-in of attuned as a shared object: the interface in C. attune_plugin.hpp wraps it for C++.
 *
 * A plug-in exports the two functions at the end. attuned loads the file (attuned --plugin
 * FILE.so), adds the algorithms to its lists, and makes an instance of one that an experiment
 * names. Two instances may be used by two threads at the same time; one instance, by one thread at
 * a time.
 *
 * Each function that returns a text returns NULL, or what went wrong: UTF-8, valid until the next
 * call of a function of the same instance. After an error attuned destroys the instance, makes
 * another one, loads the last saved state, and tells it what has happened since.
 *
 * All that attuned passes is valid until the function returns. Texts end with a 0; they are UTF-8.
 */
#ifndef ATTUNE_PLUGIN_H
#define ATTUNE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTUNE_PLUGIN_ABI 1u

/* ---- what is searched */

enum attune_parameter_type {
  ATTUNE_CHOICE = 0,  /* a value is the index of one of `count` candidates */
  ATTUNE_SUBSET = 1,  /* a bit mask with `chosen` bits: bit i for candidate i of `count` */
  ATTUNE_INTEGER = 2, /* a whole number in [low, high) */
  ATTUNE_REAL = 3,    /* in [low, high], uniform; is_log: on the logarithmic scale */
  ATTUNE_NORMAL = 4   /* normal with `mean` and `deviation`; is_log: those of the exponent */
};

struct attune_parameter {
  const char* path; /* "layer0[1].kernel_size" */
  int32_t type;
  int32_t is_log;
  double low, high;       /* ATTUNE_INTEGER, ATTUNE_REAL */
  double mean, deviation; /* ATTUNE_NORMAL */
  double step;            /* values are rounded to multiples of it; 0: they are not */
  uint64_t count, chosen; /* ATTUNE_CHOICE, ATTUNE_SUBSET */
  const char* candidates; /* of these: a JSON array; "null" for others */
  int64_t parent;         /* -1, or the parameter (at a smaller index) that decides whether this  */
  int64_t branch;         /* one is active: it is where that one is active and has this value */
};

/* A point is an array of one double for each parameter, in this order. NaN: not active. Values are
 * as a trial sees them: rounded to multiples of `step`, and inside of the bounds. */
struct attune_space {
  const struct attune_parameter* parameters;
  size_t count;
};

/* ---- what an instance is told when it is made */

enum attune_value_type { ATTUNE_NULL = 0, ATTUNE_BOOLEAN = 1, ATTUNE_NUMBER = 2, ATTUNE_TEXT = 3 };

struct attune_argument {
  const char* name;
  int32_t type;     /* attune_value_type */
  double number;    /* ATTUNE_BOOLEAN: 0 or 1 */
  const char* text; /* ATTUNE_TEXT */
};

struct attune_objective {
  const char* metric;
  int32_t maximize;
  int32_t has_limit; /* then it is a constraint and is not optimised */
  double limit;
};

struct attune_setup {
  uint64_t seed; /* below 2^53; of all random numbers, so that an experiment can be repeated */
  const struct attune_argument* arguments; /* all that are declared */
  size_t argument_count;
  const struct attune_objective* objectives; /* at least one; the loss is the first */
  size_t objective_count;
  int64_t max_trials;          /* -1: not known */
  int64_t concurrency;         /* -1: not known */
  const char* fidelity_metric; /* counts how far a trial is; NULL: not known */
  int64_t fidelity_max;        /* its value at the end of a full training */
  int32_t pauses;              /* trials can be paused, and go on from checkpoints */
  int32_t assessed;            /* an assessor judges the trials */
};

/* ---- tuners */

enum attune_answer_kind {
  ATTUNE_NO_ANSWER = 0, /* as attuned prepares it: an error if it stays so */
  ATTUNE_PROPOSAL = 1,
  ATTUNE_EXHAUSTED = 2, /* no more, ever */
  ATTUNE_NOT_YET = 3    /* asked again after something has happened */
};
enum attune_answer_flags {
  ATTUNE_HAS_BUDGET = 1,
  ATTUNE_HAS_RESUME = 2,
  ATTUNE_HAS_CHECKPOINT_FROM = 4
};

struct attune_answer {
  int32_t kind;
  uint32_t flags; /* 0 */
  double* values; /* room for a point; all NaN */
  double budget;
  int64_t resume;          /* this paused trial goes on */
  int64_t checkpoint_from; /* it starts from the checkpoint of that trial */
  const char* reason;      /* NULL, or at most 1,000 bytes; valid until the next call */
};

struct attune_metric {
  const char* name;
  double value;
};

enum attune_end {
  ATTUNE_COMPLETED = 0,
  ATTUNE_FAILED = 1,
  ATTUNE_STOPPED = 2,
  ATTUNE_DIVERGED = 3,
  ATTUNE_IMPORTED = 4 /* a result from elsewhere: `trial` is -1 */
};

struct attune_outcome {
  int64_t trial;
  int32_t end;
  int32_t has_loss; /* 0: no usable result */
  double loss;      /* to be minimised, always */
  double budget;    /* NaN: none */
  const double* values;
  const struct attune_metric* metrics; /* as reported: not negated */
  size_t metric_count;
};

struct attune_report {
  int64_t trial;
  int64_t step; /* from 0 */
  const struct attune_metric* metrics;
  size_t metric_count;
};

enum attune_action {
  ATTUNE_KEEP_GOING = 0,
  ATTUNE_CHECKPOINT = 1,
  ATTUNE_PAUSE = 2,
  ATTUNE_STOP = 3,
  ATTUNE_DROP_CHECKPOINT = 4
};

struct attune_decision {
  int64_t trial;
  int32_t action;
  int32_t complete;   /* of a stop: the last report is the final result */
  const char* reason; /* NULL, or at most 1,000 bytes */
};

/* Called by the plug-in, any number of times before its function returns. */
typedef void (*attune_decide)(void* context, const struct attune_decision* decision);
typedef void (*attune_write)(void* context, const char* text, size_t size);

struct attune_tuner {
  /* Forgets everything, and searches this space from now on. An error: it cannot. */
  const char* (*set_space)(void* self, const struct attune_space* space);
  /* One answer for each id, into answers[0 .. count). */
  const char* (*ask)(void* self, const int64_t* ids, size_t count, struct attune_answer* answers);
  const char* (*tell)(void* self, const struct attune_outcome* outcomes, size_t count);
  /* A trial runs that was not proposed here, or that was proposed before the instance was made. */
  const char* (*adopt)(void* self, int64_t trial, const double* values);
  /* The others may be NULL. withdraw: the proposal breaks a constraint, and no trial runs. */
  const char* (*withdraw)(void* self, int64_t trial);
  /* Of a plug-in with wants_reports. */
  const char* (*report)(void* self, const struct attune_report* report, attune_decide decide,
                        void* context);
  /* Proposals after the saved state were lost: the next ones must be others. */
  const char* (*skip_ahead)(void* self);
};

/* ---- assessors */

struct attune_assessor {
  /* All reports of a trial, step 0, 1, 2, ...; the last one is new. *decision is ATTUNE_KEEP_GOING
   * for this trial, and may become ATTUNE_STOP or ATTUNE_PAUSE. */
  const char* (*assess)(void* self, int64_t trial, const struct attune_report* reports,
                        size_t count, struct attune_decision* decision);
  /* May be NULL. `end`: attune_end. */
  const char* (*trial_end)(void* self, int64_t trial, int32_t end);
};

/* ---- the plug-in */

enum attune_argument_type {
  ATTUNE_ARGUMENT_BOOLEAN = 0,
  ATTUNE_ARGUMENT_INTEGER = 1,
  ATTUNE_ARGUMENT_NUMBER = 2,
  ATTUNE_ARGUMENT_TEXT = 3,
  ATTUNE_ARGUMENT_CHOICE = 4 /* one of `choices` */
};

/* A name has 1 to 200 letters, digits, '-', '_' and '.', and begins with neither '-' nor '.'. A
 * help and a summary are one line of at most 300 bytes, or NULL. */
struct attune_argument_declaration {
  const char* name; /* neither optimize_mode nor seed: every algorithm has these */
  const char* help;
  int32_t type;
  const char* fallback;       /* the default, as JSON: "0.5", "true", "\"linear\"", "null" */
  double low, high;           /* inclusive; NaN: no bound */
  const char* const* choices; /* ended by NULL; or NULL */
};

struct attune_algorithm {
  const char* name;
  const char* summary;
  const struct attune_argument_declaration* arguments;
  size_t argument_count;
  int32_t maximizes;     /* the default of optimize_mode */
  int32_t wants_reports; /* a tuner: report() is called */

  const char* (*create)(const struct attune_setup* setup, void** self);
  void (*destroy)(void* self);
  /* One of these two; the other is NULL. */
  const struct attune_tuner* tuner;
  const struct attune_assessor* assessor;
  /* Both, or NULL: then a restarted instance is told all that has happened since the beginning.
   * save() writes a UTF-8 text with everything that shapes later answers. load() follows create(),
   * and set_space() of a tuner. */
  const char* (*save)(void* self, attune_write write, void* context);
  const char* (*load)(void* self, const char* text, size_t size);
};

struct attune_plugin {
  const struct attune_algorithm* algorithms;
  size_t count;
};

#if defined(__GNUC__)
#define ATTUNE_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define ATTUNE_PLUGIN_EXPORT
#endif

/* What a plug-in exports. The version is asked first; it is ATTUNE_PLUGIN_ABI of the header that
 * the plug-in was compiled with. *plugin is valid as long as the program runs. */
ATTUNE_PLUGIN_EXPORT uint32_t attune_plugin_abi(void);
ATTUNE_PLUGIN_EXPORT const char* attune_plugin_describe(const struct attune_plugin** plugin);

#ifdef __cplusplus
}
#endif

#endif
