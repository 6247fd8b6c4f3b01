#include "backends/report/attempt_end.h"

#include <fmt/format.h>
#include <string.h>

#include "os/process.h"

namespace attune {
namespace {

std::string exit_text(const AttemptFacts::Exit& exit) {
  std::string text = to_text(ExitStatus{exit.code, exit.signal});
  // A shell turns the end of its child by a signal into an exit code.
  const int signal = exit.code - 128;
  if (signal > 0 && signal < 65) {
    text += fmt::format(", which a shell gives for signal {} ({})", signal, strsignal(signal));
  }
  return text;
}

}  // namespace

TrialFinished end_of_attempt(const AttemptFacts& facts, std::optional<Ending> wanted) {
  TrialFinished end;
  if (!facts.exit) {
    end.how = Ending::lost;
    return end;
  }
  const AttemptFacts::Exit& exit = *facts.exit;
  end.time = exit.time;
  end.ran = facts.ran(exit.time);
  end.cpu_seconds = exit.cpu_seconds;
  end.max_rss = exit.max_rss;
  end.detail = exit_text(exit);
  // In this order: an attempt whose checkpoint could not be restored never ran, whatever it was
  // told; and what was told to end counts so, however it ended.
  if (facts.restore_error) {
    end.how = Ending::restore_failed;
    end.detail = *facts.restore_error;
  } else if (wanted || facts.told_to_stop || facts.told_to_pause) {
    end.how = wanted.value_or(facts.told_to_stop ? Ending::stopped : Ending::paused);
  } else if (exit.out_of_memory) {
    end.how = Ending::out_of_memory;
    end.detail = "out of memory: " + end.detail;
  } else if (exit.signal != 0) {
    end.how = Ending::signalled;
  } else {
    end.how = exit.code == 0 ? Ending::succeeded : Ending::failed;
  }
  return end;
}

std::string why_lost(const siginfo_t& shim) {
  if (shim.si_pid == 0) return "its shim was killed, or its files were removed or damaged";
  if (shim.si_code != CLD_EXITED) return "its shim was killed";
  return shim.si_status == 0 ? kSpoolDamaged
                             : "its shim could not write its spool: is the disk full?";
}

}  // namespace attune
