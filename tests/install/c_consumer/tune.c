/* A program of a user in C: tunes a function of its own. */
#include <attune/study/study_c.h>
#include <stdio.h>

int main(void) {
  attune_study* study;
  const char* asked;
  const char* best;
  long long id;
  double x;
  if (attune_study_create("{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}",
                          "{\"tuner\": \"Random\", \"seed\": 1}", &study) != ATTUNE_STUDY_OK ||
      attune_study_ask(study, 1, &asked) != ATTUNE_STUDY_OK ||
      sscanf(asked, "{\"trials\":[{\"id\":%lld,\"parameters\":{\"x\":%lf}}]", &id, &x) != 2 ||
      attune_study_tell(study, id, x * x) != ATTUNE_STUDY_OK ||
      attune_study_best(study, &best) != ATTUNE_STUDY_OK) {
    fprintf(stderr, "%s\n", attune_study_error(study));
    return 1;
  }
  attune_study_free(study);
  puts("tuned");
  return 0;
}
