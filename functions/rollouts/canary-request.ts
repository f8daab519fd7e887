import { CanaryRequest } from '../../lib/wire/rollouts.ts'
import { jsonBody } from '../../runtime/define.ts'

/** A config with who is to run it first, and for its push what is said and confirmed. */
export const canaryBody = jsonBody(CanaryRequest, { invalidText: 'invalid json body', isStrict: false })
