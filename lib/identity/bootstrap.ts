import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import type { Log } from '../log.ts'
import { toEmailKey } from '../model/emails.ts'
import type { Database, Db } from '../store/db.ts'
import { findGroups } from '../store/groups.ts'
import { findCredentials, findUser, hasUsers, insertUser, lockIdentity } from '../store/users.ts'
import { setGroups } from './memberships/memberships.ts'
import type { Passwords } from './passwords.ts'

/** The first administrator, as the environment names it; the configuration has checked both. */
export interface SeedAdmin {
  email: string
  password: string
}

/**
 * Create the first administrator where there is no user yet. The same administrator again changes nothing; any
 * other state throws, which ends the start.
 */
export async function seedAdministrator(
  seed: SeedAdmin,
  parts: { db: Database; clock: Clock; random: Random; log: Log; passwords: Passwords },
): Promise<void> {
  const { db, clock, random, log, passwords } = parts
  // At each start but the first; a start waits for every statement.
  if (await isAdministrator(db, seed.email)) return
  // Argon2id is slow: hash only where there is no user yet, and before the lock is taken.
  const isNeeded = !(await hasUsers(db))
  const hashed = isNeeded ? await passwords.hash(seed.password) : null
  if (hashed && !hashed.ok) throw new Error('seed admin: no worker to hash the password')
  await db.transaction('user.seed', async (tx) => {
    await lockIdentity(tx)
    if (await isAdministrator(tx, seed.email)) return
    if (await findCredentials(tx, toEmailKey(seed.email)))
      throw new Error(
        `seed admin: create initial admin: user "${seed.email}" already exists without administrator membership`,
      )
    if (!hashed || (await hasUsers(tx))) {
      throw new Error('seed admin: create initial admin: database already contains a user')
    }
    const groups = await findGroups(tx, ['administrator'])
    if (groups.length === 0) throw new Error('seed admin: create initial admin: no administrator group')
    const now = clock.now()
    const id = uuidv7(now, random)
    const row = {
      id,
      email: seed.email,
      emailKey: toEmailKey(seed.email),
      passwordHash: hashed.hash,
      createdAt: now,
    }
    if (!(await insertUser(tx, row))) throw new Error('seed admin: create initial admin: e-mail is taken')
    await setGroups(tx, { keptAdministrators: [] }, { userId: id, groups, byId: null, isNew: true, now })
    log.info({ email: seed.email }, 'first administrator created')
  })
}

/**
 * Make sure that the only user who may log in with a password exists and is an administrator. Otherwise throws, which
 * ends the start: nobody could sign in while the identity provider is away.
 */
export async function requirePasswordAdministrator(db: Database, email: string): Promise<void> {
  const known = await findCredentials(db, toEmailKey(email))
  if (known?.isBound)
    throw new Error(
      `PASSWORD_LOGIN=only:${email}: this user signs in with the identity provider and has no password here; name a local administrator`,
    )
  if (await isAdministrator(db, email)) return
  throw new Error(`PASSWORD_LOGIN=only:${email}: there is no local administrator with this e-mail`)
}

/** Whether there is a user with this e-mail who is an administrator. */
async function isAdministrator(db: Db, email: string): Promise<boolean> {
  const known = await findCredentials(db, toEmailKey(email))
  if (known === undefined) return false
  const user = await findUser(db, known.id)
  const groups = await findGroups(db, user?.groups ?? [])
  return groups.some((group) => group.role === 'administrator')
}
