const TIME =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/**
 * A time that somebody sent, cut to milliseconds; null when it is none. It is RFC 3339 with its zone, and the seconds
 * may be missing. Whatever else `Date` would read means another time on another server, or is a day that does not
 * exist.
 */
export function readTime(text: string): Date | null {
  const match = TIME.exec(text)
  if (match === null) return null
  const [, year, month, day, fraction = ''] = match
  // The calendar repeats itself after 400 years; `Date.UTC` takes years below 100 for others.
  const dayCount = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate()
  if (Number(day) > dayCount) return null
  const time = new Date(text.toUpperCase().replace(fraction, fraction.slice(0, 4)))
  const utcYear = time.getUTCFullYear()
  return utcYear >= 1 && utcYear <= 9999 ? time : null
}
