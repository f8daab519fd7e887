import {
  type AuditedDatabase,
  type AuditedDatabaseParts,
  openAuditedDatabase,
} from '../../lib/audit/database.ts'
import { noAuditSink } from '../../lib/audit/delivery.ts'
import { silentLog } from '../../lib/log.ts'
import type { Database } from '../../lib/store/db.ts'
import { fakeClock, seededRandom } from './fakes.ts'

let databases = 0

/** An audited database over another one, for a test that has no context: no fleet, so nothing waits to be written. */
export function auditedDatabase(
  db: Database,
  parts: Partial<Omit<AuditedDatabaseParts, 'db'>> = {},
): AuditedDatabase {
  return openAuditedDatabase({
    clock: fakeClock(),
    // The databases of one test file must not make the same ids.
    random: seededRandom(1_000 + ++databases),
    log: silentLog,
    sink: noAuditSink,
    writeReports: async () => {},
    standsUnheard: () => {},
    ...parts,
    db,
  })
}
