import { CanaryRequest } from '../../lib/wire/rollouts.ts'
import { jsonBody } from '../../runtime/define.ts'

/**
 * The body of both canary endpoints: a config, the selection of instances that run it first, and the comment and
 * confirmation for its push.
 */
export const canaryBody = jsonBody(CanaryRequest, {
  valuesMax: 20_000,
  invalidText: 'invalid json body',
  isStrict: false,
})
