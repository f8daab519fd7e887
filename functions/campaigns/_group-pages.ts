import { optional, string, type } from 'superstruct'
import { JudgeBusy } from '../../lib/campaigns/judge/judge.ts'
import { type ShownGroup, type SomeLines, toVariable } from '../../lib/campaigns/plan/groups.ts'
import type { GroupPosition, GroupValue } from '../../lib/store/campaign-targets.ts'
import type { CampaignDiffPage } from '../../lib/wire/campaigns.ts'
import { listReply, readLimit } from '../../runtime/pagination.ts'
import { json, problem, type Reply } from '../../runtime/reply.ts'

// Groups of equal changes are shown of the plan of a campaign and of a version that is to apply by itself.

/** Groups of a page at most: a config is rendered and compared for each. */
const GROUPS_MAX = 100

type Query = Parameters<typeof listReply>[0]
type Target = Parameters<typeof listReply>[1]

/** How many groups are asked for; null where that is no number of them. */
export const readGroupLimit = ({ limit }: Query): number | null =>
  readLimit(limit ?? String(GROUPS_MAX), GROUPS_MAX)

/** The reply with a page of groups: those with production workloads first, then the rarest. `order` names the cursors. */
export const replyGroups = (
  query: Query,
  target: Target,
  { order, limit }: { order: string; limit: number },
  fetch: (page: { after: GroupPosition | null; limit: number }) => Promise<ShownGroup[]>,
): Promise<Reply> =>
  unlessBusy(() =>
    listReply<ShownGroup>({ ...query, limit: String(limit) }, target, {
      order,
      key: ['number', 'number', 'string'],
      fetch({ after, limit }) {
        const position =
          after === null ? null : { rank: Number(after[0]), count: Number(after[1]), key: String(after[2]) }
        return fetch({ after: position, limit })
      },
      keyOf: ({ position: { rank, count, key } }) => [rank, count, key],
      toWire: ({ shown }) => shown,
    }),
  )

/** The reply with a page of the values of one variable, the rarest first. `order` names the cursors. */
export const replyValues = (
  query: Query,
  target: Target,
  order: string,
  fetch: (page: {
    after: Pick<GroupValue, 'value' | 'count'> | null
    limit: number
  }) => Promise<GroupValue[]>,
): Promise<Reply> =>
  listReply<GroupValue>(query, target, {
    order,
    key: ['number', 'string'],
    fetch: ({ after, limit }) =>
      fetch({ after: after === null ? null : { count: Number(after[0]), value: String(after[1]) }, limit }),
    keyOf: ({ count, value }) => [count, value],
    toWire: toVariable,
  })

/** The query of lines of a diff. */
export const diffQuery = type({ from: optional(string()) })

/** The line from which on a diff is asked for; null where that is none. */
export const readFrom = ({ from = '0' }: { from?: string | undefined }): number | null =>
  /^\d{1,8}$/.test(from) ? Number(from) : null

/** The reply with some lines of the diff of a group. */
export const replyLines = (read: () => Promise<SomeLines | null>): Promise<Reply> =>
  unlessBusy(async () => {
    const lines = await read()
    if (lines === null) return problem('campaign-group-not-found')
    return json({ diff: lines.text, lines_left: lines.linesLeft } satisfies CampaignDiffPage)
  })

/** The reply, or that the workers which compare configs have no room now. */
async function unlessBusy(reply: () => Promise<Reply>): Promise<Reply> {
  try {
    return await reply()
  } catch (error) {
    if (error instanceof JudgeBusy) return problem('server-busy')
    throw error
  }
}
