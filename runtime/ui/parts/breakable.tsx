import { Fragment } from 'preact'

/** An e-mail breaks before its host and nowhere else: in three lines nobody reads it. */
const EMAIL = /^[^\s@/=]+@[^\s@/=]+$/

/**
 * A name or a condition that may be broken behind its dots, underscores, slashes and signs: where there is no room for all of it, it
 * stands on two lines with its words whole.
 */
export const breakable = (name: string) =>
  name.split(EMAIL.test(name) ? /(?=@)/ : /(?<=[._/@=])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ))
