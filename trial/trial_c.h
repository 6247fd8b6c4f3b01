#ifndef ATTUNE_TRIAL_C_H
#define ATTUNE_TRIAL_C_H
/* attune::Trial (trial/trial.h) for C, and for every language that can call C: libattune_trial.so.
 *
 *   attune_trial* trial;
 *   double lr;
 *   if (attune_trial_open("{\"lr\": 0.1}", NULL, &trial) != ATTUNE_TRIAL_OK ||
 *       attune_trial_next_parameters(trial) != ATTUNE_TRIAL_OK ||
 *       attune_trial_get_double(trial, "lr", &lr) != ATTUNE_TRIAL_OK ||
 *       attune_trial_final(trial, train(lr)) != ATTUNE_TRIAL_OK)
 *     fprintf(stderr, "%s\n", attune_trial_error(trial));
 *   attune_trial_free(trial);
 *
 * Texts are UTF-8 and end with 0. What a call returns stays valid until the same function is called
 * again, next_parameters() is, or the handle is freed. One thread at a time may use a handle. No
 * exception leaves these functions. A pointer that is NULL where nothing else is said is misuse.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when something that a program may rely on changes or goes. The name of the library has it:
 * libattune_trial.so.1. */
#define ATTUNE_TRIAL_ABI 1

typedef struct attune_trial attune_trial;

enum {
  ATTUNE_TRIAL_OK = 0,
  ATTUNE_TRIAL_NONE = 1,  /* there is none: no more parameters, no such name, never saved */
  ATTUNE_TRIAL_TYPE = 2,  /* the parameter has another type */
  ATTUNE_TRIAL_FAILED = 3 /* attune_trial_error() says what and why; nothing was done */
};

/* `defaults`: JSON object, the parameters that the manager's do not name, and all of them without a
 * manager; NULL: none. `checkpoint_dir`:
 * folder for checkpoints without a manager; NULL: none. *trial is a handle also when this fails, to
 * ask for the error, and is freed in any case; NULL when there is no memory. */
int attune_trial_open(const char* defaults, const char* checkpoint_dir, attune_trial** trial);
void attune_trial_free(attune_trial* trial); /* NULL is allowed */

/* One sentence about the last call that did not return ATTUNE_TRIAL_OK; "" before. NULL as a handle
 * is allowed. Never NULL. */
const char* attune_trial_error(const attune_trial* trial);

const char* attune_trial_id(const attune_trial* trial);
int64_t attune_trial_sequence(const attune_trial* trial); /* in the experiment, from 0 */
int64_t attune_trial_attempt(const attune_trial* trial);  /* starts of this trial, from 0 */
int attune_trial_stand_alone(const attune_trial* trial);  /* 1: without a manager */
const char* attune_trial_output_directory(const attune_trial* trial);

/* Trial::next_parameters(). The getters look at what it got, and fail before. */
int attune_trial_next_parameters(attune_trial* trial);

/* `path`: a name, or names with dots between them for an object in an object: "optimizer.lr". A
 * name that has dots itself is found first. ATTUNE_TRIAL_NONE: there is no such parameter. Unless
 * ATTUNE_TRIAL_OK is returned *value keeps its value. Integers are doubles too; a double without a
 * fraction is an integer too. */
int attune_trial_get_double(attune_trial* trial, const char* path, double* value);
int attune_trial_get_int64(attune_trial* trial, const char* path, int64_t* value);
int attune_trial_get_bool(attune_trial* trial, const char* path, int* value); /* 0 or 1 */
int attune_trial_get_string(attune_trial* trial, const char* path, const char** value);
/* Any parameter as JSON text; path "" is the whole object. */
int attune_trial_get_json(attune_trial* trial, const char* path, const char** value);

/* Trial::report() and Trial::final(): a number; JSON text, a number or an object; `count` named
 * values, of which "default" is the one that is compared. */
int attune_trial_report(attune_trial* trial, double value);
int attune_trial_report_json(attune_trial* trial, const char* metrics);
int attune_trial_report_values(attune_trial* trial, const char* const* names, const double* values,
                               size_t count);
int attune_trial_final(attune_trial* trial, double value);
int attune_trial_final_json(attune_trial* trial, const char* metrics);
int attune_trial_final_values(attune_trial* trial, const char* const* names, const double* values,
                              size_t count);

/* Trial::checkpoint_dir(), save() and restore(). NULL: nobody keeps checkpoints; saving does
 * nothing then. ATTUNE_TRIAL_NONE: never saved. The bytes may be followed by a 0 that `size` does
 * not count. */
const char* attune_trial_checkpoint_dir(const attune_trial* trial);
int attune_trial_save(attune_trial* trial, const char* name, const void* bytes, size_t size);
int attune_trial_restore(attune_trial* trial, const char* name, const void** bytes, size_t* size);

#ifdef __cplusplus
}
#endif
#endif
