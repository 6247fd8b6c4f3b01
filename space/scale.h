#pragma once
// The two scales of a real domain, and its quantiles. Private to the room: others use sample.h.
//
// natural scale: what the user wrote; internal scale: the logarithm of it for log domains, else the
// same. A value is natural(x), rounded to q, clipped.
#include "space/space.h"

namespace attune {

// exp(x) for a log domain, else x.
double natural(const Uniform& domain, double x);
double natural(const Normal& domain, double x);

// x rounded to a multiple n * q, as n: half to even, never -0.
double multiple_of(double q, double x);

// The value at the internal x; always finite and inside the domain.
double value_at(const Uniform& domain, double x);
double value_at(const Normal& domain, double x);

// The internal x below which a draw falls with probability p in [0, 1]: low + (high - low) * p, or
// mu + sigma * sqrt(2) * erfinv(2p - 1), infinite at 0 and 1 unless sigma is 0. Increases with p.
double quantile(const Uniform& domain, double p);
double quantile(const Normal& domain, double p);
// The same for p in [0, 1], but finite: 0 and 1 count as 2^-53 and as the largest double below 1.
double finite_quantile(const Normal& domain, double p);

// The inverse of quantile, in [0, 1]; 0.5 for a constant. Normals lose digits beyond 5 sigma.
double probability(const Uniform& domain, double x);
double probability(const Normal& domain, double x);

}  // namespace attune
