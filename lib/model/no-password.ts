/** The Argon2id hash of no password: all its bytes are zero. It takes as long to check as a real one. */
export const FITS_NO_PASSWORD = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
