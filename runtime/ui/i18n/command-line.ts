import { LOGIN_TOKEN_HOURS } from '../../../lib/model/lifetimes.ts'
import { defineTexts } from './define.ts'

/** Texts of the page that signs a command line in. */
export const commandLineTexts = defineTexts({
  en: {
    title: 'Let a command line act as you?',
    lead: 'A command line on this machine asks to be signed in. Go on only if you have just typed “muster login” yourself and it shows this code:',
    code: 'Code to compare',
    who: 'It acts as',
    machine: 'It says it runs on',
    place: 'It waits at',
    placeOf: (port: number) => `port ${port} of this machine`,
    rights: 'It may',
    rightsOf: 'what you may, but nothing that needs a person, such as approving',
    lasts: 'For',
    lastsOf: `${LOGIN_TOKEN_HOURS} hours; you can revoke it under Settings, Tokens`,
    confirm: 'The code is the same: sign it in',
    cancel: 'Refuse',
    wrong: 'This address is no sign-in of a command line. Type “muster login” to begin one.',
    end: {
      done: 'The command line is signed in. You can close this page.',
      denied: 'The command line was refused. You can close this page.',
      failed: 'The command line was not signed in; it says why. You can close this page.',
    } as Record<string, string>,
  },
  fr: {
    title: 'Laisser une ligne de commande agir en votre nom ?',
    lead: 'Une ligne de commande sur cette machine demande à être connectée. Ne continuez que si vous venez de taper « muster login » vous-même et qu’elle montre ce code :',
    code: 'Code à comparer',
    who: 'Elle agit comme',
    machine: 'Elle dit tourner sur',
    place: 'Elle attend sur',
    placeOf: (port: number) => `le port ${port} de cette machine`,
    rights: 'Elle peut',
    rightsOf: 'ce que vous pouvez, sauf ce qui demande une personne, comme approuver',
    lasts: 'Pendant',
    lastsOf: `${LOGIN_TOKEN_HOURS} heures ; vous pouvez la révoquer sous Réglages, Jetons`,
    confirm: 'Le code est le même : la connecter',
    cancel: 'Refuser',
    wrong: 'Cette adresse n’est pas une connexion d’une ligne de commande. Tapez « muster login ».',
    end: {
      done: 'La ligne de commande est connectée. Vous pouvez fermer cette page.',
      denied: 'La ligne de commande a été refusée. Vous pouvez fermer cette page.',
      failed: 'La ligne de commande n’est pas connectée ; elle dit pourquoi. Vous pouvez fermer cette page.',
    },
  },
})
