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

interface SummaryRow {
  id: string
  name: string
  kind: Template['kind']
  status: Template['status']
  category: string
  stack: string
  tags: string[]
  source_type: Template['sourceType']
  created_by: string
  created_at: Date
}

const COLUMNS = 'id, name, kind, status, category, stack, tags, source_type, created_by, created_at'

const toSummary = (row: SummaryRow): TemplateSummary => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  status: row.status,
  category: row.category,
  stack: row.stack,
  tags: row.tags,
  sourceType: row.source_type,
  createdBy: row.created_by,
  createdAt: row.created_at,
})

/** Templates, newest first; the page's key is created_at in milliseconds and the id. */
export async function listTemplates(db: Db, filter: TemplateFilter, page: Page): Promise<TemplateSummary[]> {
  const [createdAtMs, id] = page.after ?? [null, null]
  const rows = await db.query<SummaryRow>(
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
  return rows.map(toSummary)
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Whether a text has the form of a template's id. */
export function isTemplateId(text: string): boolean {
  return UUID.test(text)
}

/** One template; null when there is none, or when the id has another form. */
export async function findTemplate(db: Db, id: string): Promise<Template | null> {
  if (!isTemplateId(id)) return null
  const rows = await db.query<SummaryRow & { content: string }>(
    `select ${COLUMNS}, content from templates where id = $1::uuid`,
    [id],
  )
  return rows[0] === undefined ? null : { ...toSummary(rows[0]), content: rows[0].content }
}

/** Store a new template. */
export async function insertTemplate(tx: Db, template: Template): Promise<void> {
  await tx.execute(
    `insert into templates (id, name, content, kind, status, category, stack, tags, source_type, created_by, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11)`,
    [
      template.id,
      template.name,
      template.content,
      template.kind,
      template.status,
      template.category,
      template.stack,
      JSON.stringify(template.tags),
      template.sourceType,
      template.createdBy,
      template.createdAt,
    ],
  )
}
