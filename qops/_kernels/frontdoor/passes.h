/* How codes of 8 bits are read and written by loops for uint8 codes. */
#ifndef QOPS_PASSES_H
#define QOPS_PASSES_H
#include <stdint.h>

/* a code xored with its flip is the code that the loop reads or makes: 0x80 makes int8 codes uint8 codes of the same
 * value, 0xFF turns the codes of b into those of -b */
typedef struct { uint8_t a, b, c; } code_flips;

#endif
