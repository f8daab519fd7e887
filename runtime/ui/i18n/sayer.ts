import { defineTexts, say } from './define.ts'

const sayerTexts = defineTexts({
  en: { tokenOf: (who: string) => `a token of ${who}`, somebody: 'somebody' },
  fr: { tokenOf: (who: string) => `un jeton de ${who}`, somebody: 'quelqu’un' },
})

/** Who did something by name: a person, or an API token in the name of one. */
export function nameSayer({
  who,
  by_token: isByToken,
}: {
  who?: string | undefined
  by_token?: boolean | undefined
}): string {
  const words = say(sayerTexts)
  if (!who) return words.somebody
  return isByToken ? words.tokenOf(who) : who
}
