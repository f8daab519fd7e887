import { array, optional, string, type } from 'superstruct'
import { BUILT_IN_TEMPLATES, toBuiltInRecord } from '../../lib/configs/templates/built-in.ts'
import type { CursorKey, Page } from '../../lib/store/cursor.ts'
import type { Db } from '../../lib/store/db.ts'
import { isTemplateId, listTemplates, type TemplateFilter } from '../../lib/store/templates.ts'
import { TemplateRecord } from '../../lib/wire/templates.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { toTemplateRecord } from './_template-record.ts'

/** The time in the key of a built-in template, which stands behind everything that was ever stored. */
const BUILT_IN_TIME = -1

/** Config templates: those that were stored, newest first, then those that come with the service. */
export default defineHttp({
  route: 'GET /api/configs',
  summary: 'List the config templates, without their content.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({
    ...pageQuery,
    kind: optional(string()),
    category: optional(string()),
    stack: optional(string()),
  }),
  body: noBody,
  replies: [{ status: 200, description: 'The templates.', json: array(TemplateRecord) }],
  errors: PAGE_ERRORS,
  handle({ query, target }, ctx) {
    const filter = { kind: query.kind, category: query.category, stack: query.stack }
    return listReply(query, target, {
      order: 'templates.created_at',
      key: ['number', 'string'],
      fetch: (page) => fetchTemplates(ctx.db, filter, page),
      keyOf,
      toWire: (record) => record,
    })
  },
})

function keyOf(record: TemplateRecord): CursorKey {
  return [record.built_in ? BUILT_IN_TIME : Date.parse(record.created_at), record.id]
}

async function fetchTemplates(db: Db, filter: TemplateFilter, page: Page): Promise<TemplateRecord[]> {
  const { after } = page
  const isPastStored = after !== null && (after[0] === BUILT_IN_TIME || !isTemplateId(String(after[1])))
  const stored = isPastStored ? [] : (await listTemplates(db, filter, page)).map(toTemplateRecord)
  const rest = BUILT_IN_TEMPLATES.map((template) => toBuiltInRecord(template, false))
  const from = isPastStored ? rest.findIndex((record) => record.id === after[1]) + 1 : 0
  const builtIn = rest.slice(from).filter((record) => matches(record, filter))
  return [...stored, ...builtIn].slice(0, page.limit)
}

function matches(record: TemplateRecord, filter: TemplateFilter): boolean {
  return (['kind', 'category', 'stack'] as const).every(
    (key) => filter[key] === undefined || filter[key].toLowerCase() === record[key]?.toLowerCase(),
  )
}
