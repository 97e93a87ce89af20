/* Elements of a tensor that are neighbours in memory: what a stage reads, and the codes that it makes of them. */
#ifndef QOPS_BATCH_H
#define QOPS_BATCH_H
#include <stddef.h>

typedef enum { FROM_S32, FROM_S64, FROM_F32 } batch_source;
typedef struct {
    const void *x;
    void *c;
    batch_source from;
    int size, is_signed; /* of a code: its bytes, and whether one of 8 or 16 bits is signed */
    ptrdiff_t first, n;  /* x[0] is element number `first` of its tensor */
} stage_batch;
#endif
