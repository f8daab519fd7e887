import type { Selector } from '../wire/selectors.ts'
import type { Db } from './db.ts'

/** Trusted labels for all workloads of some identity. */
export interface StoredLabelRule {
  id: string
  name: string
  /** Where two rules say different things under one key the highest counts. */
  priority: number
  /** Null where the rule is a list. */
  selector: Selector | null
  /** The labels that each selected workload gets. */
  labels: Readonly<Record<string, string>>
  /** CSV; null where there is a selector. */
  list: string | null
  /** E-mails. */
  createdBy: string
  updatedBy: string
  createdAt: Date
  updatedAt: Date
}

interface Row {
  id: string
  name: string
  priority: number
  selector: Selector | null
  labels: Record<string, string>
  list: string | null
  created_by: string
  created_at: Date
  updated_by: string
  updated_at: Date
}

const COLUMNS = 'id, name, priority, selector, labels, list, created_by, created_at, updated_by, updated_at'

const toRule = (row: Row): StoredLabelRule => ({
  id: row.id,
  name: row.name,
  priority: row.priority,
  selector: row.selector,
  labels: row.labels,
  list: row.list,
  createdBy: row.created_by,
  createdAt: row.created_at,
  updatedBy: row.updated_by,
  updatedAt: row.updated_at,
})

/** Every rule. */
export async function listLabelRules(db: Db): Promise<StoredLabelRule[]> {
  const rows = await db.query<Row>(`select ${COLUMNS} from label_rules order by created_at, id`)
  return rows.map(toRule)
}

/** Let nobody else change a rule until the transaction ends: limits on all rules together are checked in it. */
export async function lockLabelRules(tx: Db): Promise<void> {
  await tx.execute('lock table label_rules in share row exclusive mode')
}

/** Store a rule, new or over the one with its id; false when its name is taken. */
export async function storeLabelRule(tx: Db, rule: StoredLabelRule): Promise<boolean> {
  const touched = await tx.execute(
    `insert into label_rules (${COLUMNS})
     select $1, $2, $3, $4::jsonb, $5::jsonb, $6, $7, $8, $9, $10
     where not exists (select from label_rules other where other.name = $2 and other.id <> $1)
     on conflict (id) do update
       set name = excluded.name, priority = excluded.priority, selector = excluded.selector,
           labels = excluded.labels, list = excluded.list, updated_by = excluded.updated_by,
           updated_at = excluded.updated_at`,
    [
      rule.id,
      rule.name,
      rule.priority,
      rule.selector === null ? null : JSON.stringify(rule.selector),
      JSON.stringify(rule.labels),
      rule.list,
      rule.createdBy,
      rule.createdAt,
      rule.updatedBy,
      rule.updatedAt,
    ],
  )
  return touched === 1
}

/** Remove a rule; false when there is none. */
export async function deleteLabelRule(tx: Db, id: string): Promise<boolean> {
  return (await tx.execute('delete from label_rules where id = $1', [id])) === 1
}
