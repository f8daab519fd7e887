import type { Discount } from '../wire/values.ts'

/** Why an approval by whoever reads it would not count, in a few English words; pages say it in the reader's language. */
const WORDS: Readonly<Record<Discount, string>> = {
  approved_already: 'you have approved it already',
  author: 'you asked for it, or wrote it',
  expired: 'it would be too old',
  no_right: 'you may not approve all that it reaches',
  overtaken: 'something else was pushed to the workload since',
  same_person: 'your account has the e-mail of one of its authors, or of somebody who has approved it',
  shaped_an_author: 'you made or changed the account of one of its authors',
  shaped_by_author: 'one of its authors made or changed your account',
  shaped_since_request: 'your account was made or changed after the request',
  value_author: 'you set, or chose by a label, a value that becomes part of it',
}

/** The words for a reason as the wire names it; one of a newer service with blanks for underscores. */
export const sayDiscount = (reason: string): string =>
  WORDS[reason as Discount] ?? reason.replaceAll('_', ' ')
