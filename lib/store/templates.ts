import { columns } from './columns.ts'
import type { Page } from './cursor.ts'
import type { Db } from './db.ts'

/** A stored config template. */
export interface Template {
  id: string
  name: string
  content: string
  kind: 'draft' | 'saved'
  status: 'draft' | 'ready'
  /** Empty when not given. */
  category: string
  stack: string
  tags: readonly string[]
  sourceType: 'manual' | 'migration_assistant'
  /** A user's id. */
  createdBy: string
  createdAt: Date
}

/** A template without its text. */
export type TemplateSummary = Omit<Template, 'content'>

/** What a list shows; an absent field is no condition, values are compared without regard to case. */
export interface TemplateFilter {
  kind?: string | undefined
  category?: string | undefined
  stack?: string | undefined
}

const SUMMARY = {
  id: 'id',
  name: 'name',
  kind: 'kind',
  status: 'status',
  category: 'category',
  stack: 'stack',
  tags: 'tags',
  sourceType: 'source_type',
  createdBy: 'created_by',
  createdAt: 'created_at',
}
const COLUMNS = columns<keyof TemplateSummary>(SUMMARY).select()
const TEMPLATE = columns<keyof Template>({ ...SUMMARY, content: 'content' })

/** Templates, newest first; the page's key is created_at in milliseconds and the id. */
export async function listTemplates(db: Db, filter: TemplateFilter, page: Page): Promise<TemplateSummary[]> {
  const [createdAtMs, id] = page.after ?? [null, null]
  return db.query<TemplateSummary>(
    `select ${COLUMNS} from templates
     where ($1::text is null or lower(kind) = lower($1))
       and ($2::text is null or lower(category) = lower($2))
       and ($3::text is null or lower(stack) = lower($3))
       and ($4::timestamptz is null or created_at < $4 or (created_at = $4 and id < $5::uuid))
     order by created_at desc, id desc limit $6`,
    [
      filter.kind ?? null,
      filter.category ?? null,
      filter.stack ?? null,
      createdAtMs === null ? null : new Date(Number(createdAtMs)),
      id,
      page.limit,
    ],
  )
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Whether a text has the form of a template's id. */
export function isTemplateId(text: string): boolean {
  return UUID.test(text)
}

/** One template; null when there is none, or when the id has another form. */
export async function findTemplate(db: Db, id: string): Promise<Template | null> {
  if (!isTemplateId(id)) return null
  const rows = await db.query<Template>(`select ${TEMPLATE.select()} from templates where id = $1::uuid`, [
    id,
  ])
  return rows[0] ?? null
}

/** About how many bytes the templates take that somebody made, with what names and sorts them. */
export async function measureTemplatesOf(tx: Db, userId: string): Promise<number> {
  const rows = await tx.query<{ bytes: number }>(
    `select coalesce(sum(octet_length(content) + octet_length(name) + octet_length(category) + octet_length(stack)
       + octet_length(tags::text) + 1024), 0)::float8 as bytes
     from templates where created_by = $1`,
    [userId],
  )
  return rows[0]!.bytes
}

/** Store a new template. */
export async function insertTemplate(tx: Db, template: Template): Promise<void> {
  await tx.execute(
    `insert into templates (${TEMPLATE.names}) values (${TEMPLATE.places})`,
    // Tags are JSON here, not a list of PostgreSQL.
    TEMPLATE.valuesOf({ ...template, tags: JSON.stringify(template.tags) }),
  )
}
