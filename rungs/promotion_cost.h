#pragma once
// What a trial that is paused and resumed has cost altogether. It reports the cost since it was
// started or resumed; the costs of its earlier runs are added.

namespace attune {

struct PromotionCost {
  double former = 0;  // of the runs before the present one
  double run = 0;     // of these, the last one

  double total(double reported) const { return former + reported; }
  // It has reached a rung, from which it may be resumed.
  void reached(double reported) {
    former = total(reported);
    run = reported;
  }
  // It was not paused there: the present run goes on.
  void runs_on() { former -= run; }
  // It was resumed without a checkpoint, and has begun again: what it reports is all.
  void began_again() { former = 0; }
};

}  // namespace attune
