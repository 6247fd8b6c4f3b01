#include "cluster/pool/operator.h"

#include <algorithm>

namespace attune {

OperatorView view_of(const Coordinator& coordinator) {
  OperatorView view;
  view.epoch = coordinator.board().epoch();
  view.ending = coordinator.board().latched();
  coordinator.queue().for_each_line([&](const TaskSpec& first, std::size_t count) {
    view.waiting.push_back({first.id, first.kind, first.needs, first.labels, first.worker, count});
  });
  std::ranges::sort(view.waiting, {}, &WaitingLine::task);
  for (const auto& [id, worker] : coordinator.workers().workers())
    view.workers[id] = {worker.state, worker.hello.capacity, worker.hello.labels,
                        worker.hello.kinds, worker.tasks};
  return view;
}

}  // namespace attune
