#pragma once
// Foreign text in pictures: names of parameters, metrics, workers.
#include <cstddef>
#include <string>
#include <string_view>

namespace attune::plots {

// The text on one line, as valid UTF-8 that XML may contain: at most `most` >= 1 characters (code
// points), of which the last is an ellipsis if there were more. Blanks and ends of lines become one
// space; each byte that is not UTF-8, other control characters and marks that change the direction
// of text become U+FFFD. Looks at no more of a long text than it needs.
std::string label(std::string_view text, std::size_t most = 120);

// For the text of an XML element or an attribute: <, >, &, " and ' as entities. `text` as label()
// makes it.
std::string xml_text(std::string_view text);

}  // namespace attune::plots
