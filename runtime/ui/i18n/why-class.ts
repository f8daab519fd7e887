import type { Naming } from '../../../lib/model/production.ts'
import type { APPROVAL_CLASSES } from '../../../lib/wire/values.ts'
import { defineTexts } from './define.ts'
import { quoted } from './format.ts'
import { sectionTexts } from './settings-sections.ts'

type Class = (typeof APPROVAL_CLASSES)[number]

const label = ({ key, value }: Naming): string => `${key}=${value}`

/** Why a workload counts as production or not, and where that is changed. */
export const whyClassTexts = defineTexts({
  en: {
    title: 'For approvals',
    /** `rule` is the label rule that gives the trusted label; empty where somebody set it by hand. */
    says: (of: Class, naming: Naming | null, rule: string): string => {
      if (of === 'unlabelled')
        return `It may be production: no trusted label names its environment.${
          naming === null
            ? ''
            : ` That its agents report ${label(naming)} does not count, since agents may say anything.`
        }`
      const what = of === 'production' ? 'It is production' : 'It is not production'
      if (naming === null) return `${what}: it was before its labels were changed.`
      if (naming.by === 'request') return `${what}: the request names “${naming.value}”.`
      if (naming.by === 'agents') return `${what}: its agents report ${label(naming)}.`
      return `${what}: the trusted label ${label(naming)} says so${rule && `, which the rule “${rule}” gives`}.`
    },
    waits: (until: string) =>
      `Its labels were changed so that less is asked: until ${until} the stricter rule holds, unless somebody else accepts the change.`,
    setOne: sectionTexts.en.labels,
    setMany: sectionTexts.en['label-rules'],
    ask: (who: string) =>
      `An administrator${who && ` (${who})`} sets it in the settings, under “${sectionTexts.en.labels}” or “${sectionTexts.en['label-rules']}”.`,
  },
  fr: {
    title: 'Pour les approbations',
    says: (of: Class, naming: Naming | null, rule: string): string => {
      if (of === 'unlabelled')
        return `Ce peut être la production : aucune étiquette de confiance ne nomme son environnement.${
          naming === null
            ? ''
            : ` Que ses agents signalent ${label(naming)} ne compte pas : un agent peut dire n’importe quoi.`
        }`
      const what = of === 'production' ? 'C’est la production' : 'Ce n’est pas la production'
      if (naming === null) return `${what} : ce l’était avant que ses étiquettes changent.`
      if (naming.by === 'request') return `${what} : la demande nomme « ${naming.value} ».`
      if (naming.by === 'agents') return `${what} : ses agents signalent ${label(naming)}.`
      return `${what} : l’étiquette de confiance ${label(naming)} le dit${rule && `, donnée par la règle ${quoted(rule)}`}.`
    },
    waits: (until: string) =>
      `Ses étiquettes ont changé et moins est demandé : jusqu’au ${until} vaut la règle la plus stricte, sauf si quelqu’un d’autre accepte le changement.`,
    setOne: sectionTexts.fr.labels,
    setMany: sectionTexts.fr['label-rules'],
    ask: (who: string) =>
      `Un administrateur${who && ` (${who})`} la pose dans les réglages, sous « ${sectionTexts.fr.labels} » ou « ${sectionTexts.fr['label-rules']} ».`,
  },
})
