import { array, boolean, defaulted, number, optional, record, string, type } from 'superstruct'
import { jsonBody } from '../../runtime/define.ts'

const Body = type({
  config: defaulted(string(), ''),
  selection: defaulted(
    type({
      strategy: defaulted(string(), ''),
      instance_uid: optional(string()),
      instance_uids: optional(array(string())),
      count: optional(number()),
      percentage: optional(number()),
      labels: optional(record(string(), string())),
    }),
    () => ({ strategy: '' }),
  ),
  comment: defaulted(string(), ''),
  prod_double_confirmed: defaulted(boolean(), false),
})

/** A config with who is to run it first, and for its push what is said and confirmed. */
export const canaryBody = jsonBody(Body, { invalidText: 'invalid json body', isStrict: false })
