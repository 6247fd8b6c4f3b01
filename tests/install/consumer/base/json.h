#pragma once
// A header of the user that happens to be named as one of ours.
#define HEADER_OF_THE_USER 1
