/** The form in which e-mails are compared: trimmed, composed, lower case, and fit for a database to look for. */
export const toEmailKey = (email: string): string =>
  email.trim().normalize('NFC').toLowerCase().replaceAll('\0', '\uFFFD')

const EMAIL = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u
/** The longest address that mail can be sent to (RFC 5321). */
export const EMAIL_LENGTH_MAX = 254

/** Whether a text is longer than any e-mail address; callers refuse it before they do anything else with it. */
export const isTooLongForEmail = (text: string): boolean => text.length > EMAIL_LENGTH_MAX

/** Whether a trimmed text can be an e-mail address; anything stricter refuses addresses that exist. */
export const isEmail = (email: string): boolean => !isTooLongForEmail(email) && EMAIL.test(email)
