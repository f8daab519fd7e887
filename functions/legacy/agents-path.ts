import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { redirectToWorkloads } from './_redirect-to-workloads.ts'

/** The former name of the workloads, for clients that still use it. */
export default defineHttp({
  route: 'ANY /api/agents/:rest+',
  summary: 'Redirects to the same path under /api/workloads.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 307, description: 'The new address.' }],
  errors: ['invalid-path'],
  handle: ({ target }) => redirectToWorkloads(target),
})
