import { array, type } from 'superstruct'
import { compareByName } from '../../lib/model/name-order.ts'
import { TrustedLabels } from '../../lib/wire/workloads.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { toTrustedLabels } from './_trusted-labels-record.ts'

/** The workloads that operators set labels on, by display name; those that have labels by rules alone are not among them. */
export default defineHttp({
  route: 'GET /api/trusted-labels',
  summary: 'List the workloads that operators set trusted labels on, by display name.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: type(pageQuery),
  body: noBody,
  replies: [
    { status: 200, description: 'Their labels, and where they are from.', json: array(TrustedLabels) },
  ],
  errors: PAGE_ERRORS,
  handle({ query, target }, ctx) {
    return listReply(query, target, {
      order: 'trusted_labels.display_name',
      key: ['string', 'string'],
      fetch: async ({ after, limit }) => {
        const from = after === null ? null : { displayName: String(after[0]), id: String(after[1]) }
        return ctx.fleet.state
          .workloadsByName()
          .filter(
            (workload) =>
              Object.keys(workload.handLabels).length > 0 &&
              (from === null || compareByName(workload, from) > 0),
          )
          .slice(0, limit)
      },
      keyOf: ({ displayName, id }) => [displayName, id],
      toWire: ({ id }) => toTrustedLabels(ctx, id),
    })
  },
})
