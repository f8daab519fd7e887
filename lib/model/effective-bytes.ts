/** Bytes of one effective config, as it is reported and as it is kept; a longer one counts as no config. */
export const EFFECTIVE_BYTES_MAX = 2_097_152
