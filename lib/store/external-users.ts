import { toEmailKey } from '../model/emails.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'
import { SERVICE_PREFIX } from './service-accounts.ts'

/** A sign-in through a provider with the e-mail of a local user: an administrator may link the two. */
export interface LinkRequest {
  id: string
  userId: string
  issuer: string
  subject: string
  email: string
  requestedAt: Date
}

/** The user who is bound to a provider's subject. */
export async function findExternalUser(
  tx: Db,
  issuer: string,
  subject: string,
): Promise<{ id: string; email: string; isLocal: boolean } | undefined> {
  const rows = await tx.query<{ id: string; email: string; isLocal: boolean }>(
    `select id, email, kind = 'local' as "isLocal" from users where issuer = $1 and subject = $2`,
    [issuer, subject],
  )
  return rows[0]
}

/** Add a user who is bound to a provider's subject. */
export async function insertExternalUser(
  tx: Db,
  user: { id: string; email: string; issuer: string; subject: string; createdAt: Date },
): Promise<void> {
  await tx.execute(
    `insert into users (id, email, kind, issuer, subject, created_at) values ($1, $2, 'external', $3, $4, $5)`,
    [user.id, user.email, user.issuer, user.subject, user.createdAt],
  )
  await noteExternalId(tx, { ...user, userId: user.id }, user.createdAt)
}

/** The id that a provider's subject had as a user here who is removed by now; the newest of several. */
export async function findFormerId(db: Db, issuer: string, subject: string): Promise<string | undefined> {
  const rows = await db.query<{ id: string }>(
    `select e.user_id as id from external_ids e where e.issuer = $1 and e.subject = $2
       and not exists (select from users u where u.id = e.user_id)
     order by e.noted_at desc, e.user_id desc limit 1`,
    [issuer, subject],
  )
  return rows[0]?.id
}

/** Remember for good which person of a provider a user is. */
export async function noteExternalId(
  tx: Db,
  { userId, issuer, subject }: Record<'userId' | 'issuer' | 'subject', string>,
  now: Date,
): Promise<void> {
  await tx.execute(
    `insert into external_ids (user_id, issuer, subject, noted_at) values ($1, $2, $3, $4)
     on conflict (user_id) do nothing`,
    [userId, issuer, subject, now],
  )
}

/** So many names are kept of one person. */
const NAMES_MAX = 100

/**
 * Remember what the provider calls a person, or the e-mail of a local user who is removed, in the form in which e-mails are
 * compared. Where that are too many, what is said now and the first ones stay: nobody gets rid of the name of an old
 * commit, or of the present one, by being renamed again and again. `vouched` is the name that is an e-mail which he did not
 * choose himself; null for none.
 */
export async function noteProviderNames(
  tx: Db,
  userId: string,
  { names, vouched }: { names: readonly string[]; vouched: string | null },
  now: Date,
): Promise<void> {
  const said = names.slice(0, NAMES_MAX)
  await tx.execute(
    `insert into provider_names as n (user_id, name, noted_at, is_vouched)
     select $1, name, $3, name is not distinct from $4 from unnest($2::text[]) as said (name)
     on conflict (user_id, name) do update set is_vouched = true where excluded.is_vouched and not n.is_vouched`,
    [userId, said, now, vouched],
  )
  await tx.execute(
    `delete from provider_names where user_id = $1 and name in (
       select name from provider_names where user_id = $1 and name <> all($2::text[])
       order by noted_at nulls first, name offset $3)`,
    [userId, said, NAMES_MAX - said.length],
  )
}

/** SQL for a name as people see it: pages fold blanks, and the same letter is written in several ways. */
export const seen = (name: string): string =>
  `lower(regexp_replace(btrim(normalize(${name}, nfkc)), '\\s+', ' ', 'g'))`

/** Letters of Cyrillic, Greek, Armenian and phonetic writing that look like Latin ones, and these. */
const LOOKALIKES = [
  '\u0430\u0432\u0435\u04bb\u0456\u0458\u043a\u04cf\u043c\u043d\u043e\u0440\u051b\u0455\u0442\u0501\u0443\u051d\u0445\u0441',
  '\u0261\u0251\u0131\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b7\u03c9\u0581\u0578\u057d\u0585',
].join('')
const LATIN = 'abehijklmhopqstdywxcgaiaikvoptuxnwgnuo'
/** Marks that nobody sees. */
const UNSEEN =
  '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]'

/** SQL for what a name looks like, whatever letters it is written with. */
const looks = (name: string): string =>
  `translate(regexp_replace(${seen(name)}, '${UNSEEN}', '', 'g'), '${LOOKALIKES}', '${LATIN}')`

/** The e-mail of another user that looks like this one and is another; null where there is none. */
export async function findLookalike(db: Db, email: string, emailKey: string): Promise<string | null> {
  const rows = await db.query<{ email: string }>(
    `select email from users where kind <> 'service' and ${looks('email')} = ${looks('$1::text')}
       and lower(normalize(btrim(email), nfc)) <> $2 limit 1`,
    [email, emailKey],
  )
  return rows[0]?.email ?? null
}

/**
 * Whether somebody else of a provider, or a service account, has a name that looks like this one, or a local user an e-mail
 * that does and is another.
 */
export async function isNameOfAnother(
  db: Db,
  name: string,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<boolean> {
  const rows = await db.query(
    `select from users where (kind = 'external' and ${looks('email')} = ${looks('$1::text')} and (issuer, subject) <> ($2, $3))
       or (kind = 'local' and ${looks('email')} = ${looks('$1::text')} and email_key <> $4
         and (issuer, subject) is distinct from ($2, $3))
       or (kind = 'service' and email = '${SERVICE_PREFIX}' || ${looks('$1::text')}) limit 1`,
    [name, issuer, subject, toEmailKey(name)],
  )
  return rows.length > 0
}

/** Whether somebody of a provider has a name that looks like this one. */
export async function isNameOfPerson(db: Db, name: string): Promise<boolean> {
  const rows = await db.query(
    `select from users where kind = 'external' and ${looks('email')} = ${looks('$1::text')} limit 1`,
    [name],
  )
  return rows.length > 0
}

/** Note a sign-in, and the name of its user from now on. */
export async function noteExternalLogin(tx: Db, userId: string, email: string, now: Date): Promise<void> {
  await tx.execute(`update users set last_login_at = $3, email = $2 where id = $1`, [userId, email, now])
}

/** Take a user for one who has not signed in: its tokens wait until it does again. */
export async function forgetLogin(tx: Db, userId: string): Promise<void> {
  await tx.execute(`update users set last_login_at = null where id = $1`, [userId])
}

/** Whether somebody of a provider is a user who has anything that a refused sign-in takes away. */
export async function hasSomethingToLose(db: Db, issuer: string, subject: string): Promise<boolean> {
  const rows = await db.query(
    `select from users u where u.issuer = $1 and u.subject = $2
       and (u.last_login_at is not null or exists (select from sessions s where s.user_id = u.id)
         or (not u.is_kept_administrator and exists (select from user_groups m where m.user_id = u.id)))`,
    [issuer, subject],
  )
  return rows.length > 0
}

/** Bind a local user to a provider's subject, and replace the hash of the user's password. */
export async function linkUser(
  tx: Db,
  { userId, issuer, subject, passwordHash }: Record<'userId' | 'issuer' | 'subject' | 'passwordHash', string>,
  now: Date,
): Promise<void> {
  await tx.execute(
    `update users set issuer = $2, subject = $3, password_hash = $4 where id = $1 and kind = 'local'`,
    [userId, issuer, subject, passwordHash],
  )
  await noteExternalId(tx, { userId, issuer, subject }, now)
}

/**
 * End the sessions opened through a provider, by one subject or one session there where given; by a subject alone also
 * those that its user opened with a password, and by both also those of which nobody knows the session there. Returns
 * their ids.
 */
export async function deleteProviderSessions(tx: Db, of: EndedAtProvider): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `delete from sessions s using users u
     where u.id = s.user_id and (s.issuer = $1 or ($2::text is null and u.issuer = $1))
       and ($2::text is null or s.provider_session = $2 or ($3::text is not null and s.provider_session is null))
       and ($3::text is null or u.subject = $3)
     returning s.id`,
    [of.issuer, of.providerSession, of.subject],
  )
  return rows.map((row) => row.id)
}

/** What a provider said has ended: a session of its own, or all that a person had open. */
export interface EndedAtProvider {
  issuer: string
  subject: string | null
  providerSession: string | null
}

/** Remember that something ended at a provider; false where the same token has said so before. */
export async function noteEndedAtProvider(
  tx: Db,
  ended: EndedAtProvider & { tokenHash: string },
  now: Date,
): Promise<boolean> {
  const noted = await tx.execute(
    `insert into ended_provider_sessions (issuer, subject, provider_session, token_hash, ended_at)
     values ($1, $2, $3, $4, $5) on conflict (token_hash) do nothing`,
    [ended.issuer, ended.subject, ended.providerSession, ended.tokenHash, now],
  )
  return noted > 0
}

/**
 * Whether a sign-in came too late: its session at the provider has ended, or all that its person had open, after it was
 * begun.
 */
export async function hasEndedAtProvider(
  tx: Db,
  signIn: { issuer: string; subject: string; providerSession: string | null; begunAt: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `select from ended_provider_sessions
     where issuer = $1 and (subject is null or subject = $2)
       and case when provider_session is null or (subject is not null and $3::text is null) then ended_at > $4
         else provider_session = $3 end limit 1`,
    [signIn.issuer, signIn.subject, signIn.providerSession, signIn.begunAt],
  )
  return rows.length > 0
}

/** Forget what ended at providers before a time. */
export async function deleteOldEndsAtProvider(tx: Db, before: Date): Promise<void> {
  await tx.execute('delete from ended_provider_sessions where ended_at < $1', [before])
}

const LINK_REQUEST = columns<keyof LinkRequest>({
  id: 'id',
  userId: 'user_id',
  issuer: 'issuer',
  subject: 'subject',
  email: 'email',
  requestedAt: 'requested_at',
})
const COLUMNS = LINK_REQUEST.select()

/**
 * Ask for a link; one that waits already is asked for again. Where that is now about another user or e-mail, the request
 * has another id: an answer to the former one finds none.
 */
export async function upsertLinkRequest(tx: Db, request: LinkRequest): Promise<void> {
  await tx.execute(
    `insert into link_requests (${LINK_REQUEST.names}) values (${LINK_REQUEST.places})
     on conflict (issuer, subject) do update set ${LINK_REQUEST.replaced('userId', 'email', 'requestedAt')},
       id = case when (link_requests.user_id, link_requests.email) = (excluded.user_id, excluded.email)
         then link_requests.id else excluded.id end`,
    LINK_REQUEST.valuesOf(request),
  )
}

/** Whether just this link waits for an administrator. */
export async function isLinkAskedFor(
  db: Db,
  { userId, issuer, subject, email }: Pick<LinkRequest, 'userId' | 'issuer' | 'subject' | 'email'>,
): Promise<boolean> {
  const rows = await db.query(
    `select from link_requests where issuer = $1 and subject = $2 and user_id = $3 and email = $4`,
    [issuer, subject, userId, email],
  )
  return rows.length > 0
}

/** Links that wait for an administrator, the newest first. */
export async function listLinkRequests(db: Db, limit: number): Promise<LinkRequest[]> {
  return db.query<LinkRequest>(
    `select ${COLUMNS} from link_requests order by requested_at desc, id desc limit $1`,
    [limit],
  )
}

/** Take a link request away; undefined when it is gone. */
export async function takeLinkRequest(tx: Db, id: string): Promise<LinkRequest | undefined> {
  const rows = await tx.query<LinkRequest>(`delete from link_requests where id = $1 returning ${COLUMNS}`, [
    id,
  ])
  return rows[0]
}

/** Take away the link request of somebody of a provider, where there is one. */
export async function deleteLinkRequestOf(tx: Db, issuer: string, subject: string): Promise<void> {
  await tx.execute('delete from link_requests where issuer = $1 and subject = $2', [issuer, subject])
}

/** Take all link requests about a user away. */
export async function takeLinkRequestsAbout(tx: Db, userId: string): Promise<LinkRequest[]> {
  return tx.query<LinkRequest>(`delete from link_requests where user_id = $1 returning ${COLUMNS}`, [userId])
}

/** Forget link requests that nobody answered. */
export async function deleteOldLinkRequests(tx: Db, before: Date): Promise<number> {
  return tx.execute(`delete from link_requests where requested_at <= $1`, [before])
}
