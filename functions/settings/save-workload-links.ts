import { type LinkTemplateFault, readLinkTemplate } from '../../lib/model/link-template.ts'
import { isStorableLine } from '../../lib/model/storable.ts'
import { removeSetting, storeSetting } from '../../lib/store/settings.ts'
import { LINK_NAME_LENGTH_MAX, LINK_URL_LENGTH_MAX, WORKLOAD_LINKS_MAX } from '../../lib/wire/values.ts'
import { type WorkloadLink, WorkloadLinks, WorkloadLinksRequest } from '../../lib/wire/workload-links.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { readWorkloadLinks, toWorkloadLinks, WORKLOAD_LINKS } from './_workload-links-record.ts'

const REFUSALS = {
  not_https: 'link-not-https',
  in_host: 'link-host-open',
  open_brace: 'link-brace-open',
  placeholder_unknown: 'link-placeholder-unknown',
} as const satisfies Record<LinkTemplateFault['code'], string>

const isNamed = ({ name }: WorkloadLink): boolean =>
  name !== '' && name.length <= LINK_NAME_LENGTH_MAX && isStorableLine(name)

const listLinks = (links: readonly WorkloadLink[]): string =>
  links.map(({ name, url }) => `${name} ${url}`).join(', ')

/** Store the ways from a workload to other programs, over all that were there. */
export default defineHttp({
  route: 'PUT /api/settings/workload-links',
  summary: 'Store the links that every workload has to other programs.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(WorkloadLinksRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'The links as stored.', json: WorkloadLinks }],
  errors: [
    ...(['links-too-many', 'link-name-invalid', 'link-name-taken', 'link-not-https'] as const),
    ...(['link-host-open', 'link-brace-open', 'link-placeholder-unknown', 'audit-unavailable'] as const),
  ],
  async handle({ body, actor }, ctx) {
    const links = body.links.map(({ name, url }) => ({ name: name.trim(), url: url.trim() }))
    if (links.length > WORKLOAD_LINKS_MAX) return problem('links-too-many', { max: WORKLOAD_LINKS_MAX })
    const names = new Set<string>()
    for (const link of links) {
      if (!isNamed(link)) return problem('link-name-invalid', { max: LINK_NAME_LENGTH_MAX })
      if (names.has(link.name)) return problem('link-name-taken', { name: link.name })
      names.add(link.name)
      const isShort = link.url.length <= LINK_URL_LENGTH_MAX && isStorableLine(link.url)
      if (!isShort) return problem('link-not-https', { name: link.name, max: LINK_URL_LENGTH_MAX })
      const read = readLinkTemplate(link.url)
      if (!read.ok)
        return problem(REFUSALS[read.fault.code], {
          name: link.name,
          part: read.fault.part,
          max: LINK_URL_LENGTH_MAX,
        })
    }
    const setting = { value: JSON.stringify(links), updatedAt: ctx.clock.now(), updatedBy: actor.email }
    const stored = await ctx.db.change('settings.save-workload-links', actor, async (tx) => {
      const before = await readWorkloadLinks(tx)
      if (links.length === 0) await removeSetting(tx, WORKLOAD_LINKS)
      else await storeSetting(tx, WORKLOAD_LINKS, setting)
      await tx.record({
        action: 'settings.workload_links',
        resource: 'settings',
        resourceId: WORKLOAD_LINKS,
        detail: JSON.stringify({ from: listLinks(before.links), to: listLinks(links) }),
      })
      return { ok: true }
    })
    if (!stored.ok) return auditUnavailable(stored)
    return json(toWorkloadLinks(links.length === 0 ? null : setting))
  },
})
