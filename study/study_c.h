#ifndef ATTUNE_STUDY_C_H
#define ATTUNE_STUDY_C_H
/* attune::Study (study/study.h) for C, and for every language that can call C: libattune_study.so.
 *
 *   attune_study* study;
 *   const char* trial;
 *   if (attune_study_create("{\"x\": {\"_type\": \"uniform\", \"_value\": [-5, 5]}}",
 *                           "{\"tuner\": \"TPE\", \"seed\": 1}", &study) == ATTUNE_STUDY_OK)
 *     while (attune_study_ask(study, 1, &trial) == ATTUNE_STUDY_OK && ...)
 *       attune_study_tell(study, id, loss);
 *   attune_study_free(study);
 *
 * JSON goes in and out as text in UTF-8 that ends with 0. Written JSON is pure ASCII; NaN and the
 * infinities are written, and read, as Python does.
 *
 * What a call returns through a pointer stays valid until the next call with the same handle. One
 * thread at a time may use a handle; different threads may use different handles. After a fork()
 * the child must not use a handle. No exception leaves these functions. A pointer that is NULL
 * where nothing else is said is misuse.
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when something that a program may rely on changes or goes. Functions and members of JSON
 * objects are added without that. */
#define ATTUNE_STUDY_ABI 1
int32_t attune_study_abi(void);         /* of the library that is loaded */
const char* attune_study_version(void); /* of attune, as "1.2.3" */

typedef struct attune_study attune_study;

enum {
  ATTUNE_STUDY_OK = 0,
  ATTUNE_STUDY_NONE = 1,  /* there is none: no such trial, no best one */
  ATTUNE_STUDY_FAILED = 2 /* attune_study_error() says what and why; nothing was done */
};

/* ---- making a study. *study is a handle also when this fails, to ask for the error, and is freed
 * in any case; NULL when there is no memory. */

/* `space`: an object as docs/search-space.md says. "{}": trials say what they need while they run,
 * by attune_study_suggest(). `options`: NULL, or an object whose members may
 * all be missing:
 *   tuner, assessor  a name of `attuned --list`, or {"name": ..., "arguments": {...}}
 *   maximize         true: larger values are better
 *   objectives       in place of maximize: [{"metric": ..., "maximize": ..., "limit": ...}]
 *   constraints      texts, as docs/search-space.md says
 *   initial_points   configurations that are tried first
 *   seed             from 0; the same seed and the same calls give the same answers
 *   max_trials, concurrency   from 1
 *   file             everything is written to it before a call returns
 *   if_exists        what if there is such a file: "fail" or "continue"
 *   durability       "never", "each_second" or "always": when it is also flushed to the disk */
int attune_study_create(const char* space, const char* options, attune_study** study);
/* Continues the study in the file. open() also writes to it; load() does not. `durability`: as
 * above; NULL: "never". */
int attune_study_open(const char* file, const char* durability, attune_study** study);
int attune_study_load(const char* file, attune_study** study);
void attune_study_free(attune_study* study); /* NULL is allowed */

/* One sentence about the last call that returned ATTUNE_STUDY_FAILED; "" before. NULL as a handle
 * is allowed. Never NULL. */
const char* attune_study_error(const attune_study* study);

/* ---- asking and telling. `value`: what tell() and report() of attune::Study take. */

/* {"trials": [{"id": 0, "parameters": {...}}, ...], "no_more": false, "reason": ""}: fewer than
 * `count`, which is from 1 to 10,000, if the tuner waits for results, or has no more. */
int attune_study_ask(attune_study* study, int32_t count, const char** asked);
int attune_study_tell(attune_study* study, int64_t id, double value);
int attune_study_tell_json(attune_study* study, int64_t id, const char* value);
/* [[id, value], ...], all or none. */
int attune_study_tell_all(attune_study* study, const char* results);
/* `step`: -1 is the next one. *stop: NULL, or why the trial should end. */
int attune_study_report(attune_study* study, int64_t id, double value, int64_t step,
                        const char** stop);
int attune_study_report_json(attune_study* study, int64_t id, const char* value, int64_t step,
                             const char** stop);
int attune_study_fail(attune_study* study, int64_t id, const char* reason); /* NULL: none */
int attune_study_stop(attune_study* study, int64_t id);
int attune_study_enqueue(attune_study* study, const char* parameters);
/* [{"parameters": {...}, "value": ...}, ...], all or none. */
int attune_study_import(attune_study* study, const char* results);

/* ---- without a search space: suggest(), give() and declare() of attune::Study. `declared`: what
 * stands behind a name in a search space. *value: JSON. */

int attune_study_suggest(attune_study* study, int64_t id, const char* name, const char* declared,
                         const char** value);
/* The trial tries `value`, JSON, whatever was proposed. */
int attune_study_give(attune_study* study, int64_t id, const char* name, const char* declared,
                      const char* value);
int attune_study_declare(attune_study* study, const char* space);

/* ---- looking at it. A trial is
 *   {"id": 3, "parameters": {...}, "state": "completed", "value": 0.5, "metrics": {"default": 0.5},
 *    "reports": [{"default": 0.75}, ...], "reason": ""}
 * `state`: running, paused, completed, diverged, failed or stopped. `value`: missing if there is
 * none. */

int attune_study_best(attune_study* study, const char** trial); /* ATTUNE_STUDY_NONE */
int attune_study_keeps_limits(attune_study* study);             /* 1: the best one breaks none */
int attune_study_trade_offs(attune_study* study, const char** trials);       /* an array */
int attune_study_trial(attune_study* study, int64_t id, const char** trial); /* ATTUNE_STUDY_NONE */
int attune_study_trials(attune_study* study, const char** trials);           /* an array, by id */
int attune_study_running(attune_study* study, const char** trials); /* as in attune_study_ask() */
/* {"x": 0.8, "y": 0.2}, the largest first: Study::importance(). `metric`: of an objective; NULL:
 * the first one. */
int attune_study_importance(attune_study* study, const char* metric, const char** importance);
/* How many trials there are in this state, or in all (NULL). */
int attune_study_count(attune_study* study, const char* state, int64_t* count);
/* An array of texts: what a user should know of the file. */
int attune_study_warnings(attune_study* study, const char** warnings);
int attune_study_save(attune_study* study, const char* path); /* Study::save() */

#ifdef __cplusplus
}
#endif
#endif
