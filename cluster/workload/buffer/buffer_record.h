#pragma once
// What the journal keeps of a buffer: the calls that changed it. A Buffer is repeatable, so
// repeating the calls in their order on a snapshot makes the same buffer, with the same draws.
//
// Must be recorded: a push that took items (with those that it took; known ones do no harm), a
// sample that gave a batch, an update that set a priority, an advance to a later iteration. Other
// calls changed nothing, except forget() and close(), which follow from the ends of tasks.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/workload/buffer/buffer.h"

namespace attune {

json push_record(std::string_view producer, std::int64_t first, std::span<const BufferItem> taken);
json sample_record(std::string_view consumer, std::int64_t number, std::size_t n);
json update_record(std::span<const ItemId> ids, std::span<const double> priorities);
json advance_record(std::int64_t iteration);

// Repeats the call. An error if it is no record, or if the buffer does not take or give all of what
// the record says; the journal must not be used any further then.
Result<void> replay(Buffer& buffer, const json& record);

// [{"meta": "...", "priority": 0.5, "collect_iter": 3}, ...], the latter two if an item has them.
// This is the form in records and in messages of producers. Numbers are not checked; push() does
// that.
json to_json(std::span<const BufferItem> items);
Result<std::vector<BufferItem>> parse_buffer_items(const json& items);

}  // namespace attune
