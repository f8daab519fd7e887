import type { SingleSignOn } from '../../../lib/wire/system.ts'
import { say } from '../i18n/define.ts'
import { formatList } from '../i18n/format.ts'
import { signOnTexts } from '../i18n/single-sign-on.ts'
import { breakable } from '../parts/breakable.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Pairs } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { api } from '../state/endpoints.ts'
import { useResource } from '../state/use-resource.ts'

const Code = ({ of }: { of: string }) => <span class="mono">{breakable(of)}</span>

/** What was configured of the provider, and who signs in with a password beside it. */
function State({ of: { provider, only_password_login: only } }: { of: SingleSignOn }) {
  const words = say(signOnTexts)
  const { fields } = words
  return (
    <section class="pane stack tight">
      <p>
        <Mark tone={provider ? 'ok' : 'idle'} shape={provider ? 'tick' : 'ring'}>
          {provider ? words.on(provider.name) : words.off}
        </Mark>
      </p>
      {provider && (
        <Pairs
          of={[
            [fields.issuer, <Code of={provider.issuer} />],
            [fields.client, <Code of={provider.client_id} />],
            [fields.auth, words.auths[provider.client_auth]],
            [fields.scopes, <Code of={provider.scopes} />],
            [fields.claim, <Code of={provider.groups_claim} />],
            [fields.session, words.hours(provider.session_hours)],
            [fields.passwords, only === undefined ? words.passwordsAll : words.passwordsOnly(only)],
          ]}
        />
      )}
      <p class="muted">{words.asConfigured}</p>
    </section>
  )
}

/** The addresses that the provider has to know. */
function Addresses({ of: { redirect_uri: redirect, logout_uri: logout } }: { of: SingleSignOn }) {
  const words = say(signOnTexts)
  return (
    <section class="pane">
      <h2>{words.register}</h2>
      {redirect === undefined || logout === undefined ? (
        <p class="muted">{words.noAddress}</p>
      ) : (
        <Pairs
          of={[
            [words.redirect, <Code of={redirect} />],
            [words.logout, <Code of={logout} />],
          ]}
        />
      )}
    </section>
  )
}

/** Which groups of the provider give which here. */
function Groups({ of }: { of: SingleSignOn['groups'] }) {
  const words = say(signOnTexts)
  return (
    <section class="pane stack tight">
      <h2>{words.groups}</h2>
      <p class="muted">{of === undefined ? words.noMap : words.groupsLead}</p>
      {of !== undefined && (
        <Table
          label={words.groups}
          columns={[
            { title: words.theirs, look: 'mono', cell: ({ theirs }) => breakable(theirs) },
            {
              title: words.ours,
              look: 'text',
              cell: ({ ours, missing }) => (
                <>
                  {formatList(ours.filter((name) => !missing.includes(name)))}
                  {missing.map((name) => (
                    <div key={name} class="warn">
                      {words.missing(name)}
                    </div>
                  ))}
                </>
              ),
            },
          ]}
          rows={of}
          keyOf={({ theirs }) => theirs}
        />
      )}
    </section>
  )
}

/** The steps, and which settings do it. */
function SetUp() {
  const words = say(signOnTexts)
  return (
    <section class="pane stack tight">
      <h2>{words.setUp}</h2>
      <ol class="bullets">
        {words.steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <Pairs of={Object.entries(words.settings).map(([name, what]) => [name, what])} />
      <p class="muted">{words.manual}</p>
    </section>
  )
}

/** Whether and how people sign in with an identity provider, and what sets that up. */
export function SingleSignOnSection() {
  const found = useResource('single-sign-on', (abort) => api.singleSignOn(abort))
  return (
    <Loaded of={found}>
      {(data) => (
        <>
          <State of={data} />
          <Addresses of={data} />
          {data.provider && <Groups of={data.groups} />}
          <SetUp />
        </>
      )}
    </Loaded>
  )
}
