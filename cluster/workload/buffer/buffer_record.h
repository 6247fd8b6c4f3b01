#pragma once
// What the journal keeps of a buffer: the calls that changed it. A Buffer is repeatable, so calls,
// in their order, on a snapshot make the same buffer again, with its draws and random numbers.
//
// To be recorded: a push that took items (those that it took, though known ones do no harm), a
// sample that gave a batch, an update that set a priority, an advance to a later iteration. Other
// calls changed nothing, but for forget() and close(), which follow from the ends of tasks.
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

// Makes the call again. An error, for which the journal is not to be used any further: no record,
// or one that this buffer would not have made, because it does not take or give all of it.
Result<void> replay(Buffer& buffer, const json& record);

// [{"meta": "...", "priority": 0.5, "collect_iter": 3}, ...], the latter two if there are any: in
// records and in what producers send. Numbers are not checked; push() does.
json to_json(std::span<const BufferItem> items);
Result<std::vector<BufferItem>> parse_buffer_items(const json& items);

}  // namespace attune
