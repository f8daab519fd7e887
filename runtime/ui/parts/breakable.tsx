import { Fragment } from 'preact'

/**
 * A name or a condition that may be broken behind its dots, underscores, slashes and signs: where there is no room for all of it, it
 * stands on two lines with its words whole.
 */
export const breakable = (name: string) =>
  name.split(/(?<=[._/@=])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ))
