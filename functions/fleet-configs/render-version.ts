import { string, type } from 'superstruct'
import { toDeclared } from '../../lib/fleet-configs/read-version.ts'
import { resolveValues } from '../../lib/fleet-configs/values.ts'
import { configHash } from '../../lib/model/config-hash.ts'
import { toSelectable } from '../../lib/selectors/selector.ts'
import { findVersion } from '../../lib/store/fleet-configs.ts'
import { listWorkloadVariables } from '../../lib/store/workload-variables.ts'
import { RenderedVersion } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { holdsOn } from '../../runtime/reach.ts'
import { json, problem } from '../../runtime/reply.ts'
import { readNumber, requireTexts, versionParams } from './_fleet-config-path.ts'

/** A version with the values of one workload in it; nothing is pushed by it. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/versions/:number/render',
  summary: 'Show what a version would be for a workload.',
  access: signedIn('config:read_content', 'handler'),
  gate: 'config_safety.campaigns',
  params: versionParams,
  query: type({ workload_id: string() }),
  body: noBody,
  replies: [{ status: 200, description: 'The rendered text.', json: RenderedVersion }],
  errors: [
    'fleet-config-not-found',
    'fleet-config-version-not-found',
    'workload-not-found',
    'version-not-rendered',
    'server-busy',
  ],
  async handle({ params, query, actor }, ctx) {
    const found = await requireTexts(ctx, params.id, actor)
    if (!found.ok) return found.reply
    const { config } = found
    const number = readNumber(params.number)
    const version = number === null ? null : await findVersion(ctx.db, config.id, number)
    if (version === null) return problem('fleet-config-version-not-found')
    const workload = ctx.fleet.workload(query.workload_id)
    if (workload === null) return problem('workload-not-found')
    if (!holdsOn(actor, 'config:read_content', ctx, workload.id)) return problem('out-of-scope')
    const own = (await listWorkloadVariables(ctx.db, [workload.id])).get(workload.id)?.values ?? {}
    const sources = { own, table: version.valueTable, workload: toSelectable(workload), withReported: true }
    const values = resolveValues(version.variables, sources)
    const variables = version.variables.map(toDeclared)
    const answer = await ctx.configs.render({ text: version.body, variables, values })
    if (!answer.ok) return problem(answer.code)
    if (!answer.rendering.ok) {
      const { code, fault, variable = '' } = answer.rendering.problem
      return problem('version-not-rendered', { ...fault, cause: code, variable })
    }
    const { text } = answer.rendering
    return json({
      workload_id: workload.id,
      number: version.number,
      content: text,
      hash: configHash(text),
      values,
    } satisfies RenderedVersion)
  },
})
