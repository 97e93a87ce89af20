/* The named roundings, as rounding.pxd and the lanes know them. */
#ifndef QOPS_ROUNDING_H
#define QOPS_ROUNDING_H
typedef enum { QOPS_FLOOR, QOPS_TRUNCATE, QOPS_HALF_UP, QOPS_HALF_AWAY, QOPS_HALF_EVEN } qops_rounding;
#endif
