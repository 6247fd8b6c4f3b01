#include "dispatcher/request_pieces.h"

namespace attune {

std::optional<TuneMessage> take_piece(TuneMessage& message, std::int64_t at_once) {
  auto* ask = std::get_if<AskTrials>(&message);
  if (!ask || ask->count <= at_once) return std::nullopt;
  const AskTrials piece{ask->request, ask->first, at_once};
  ask->first += at_once;
  ask->count -= at_once;
  return piece;
}

}  // namespace attune
