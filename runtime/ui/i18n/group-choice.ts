import { defineTexts } from './define.ts'

/** Texts of choosing the groups of an account. */
export const groupChoiceTexts = defineTexts({
  en: {
    open: 'Change',
    openFor: (name: string) => `Change the groups of ${name}`,
    titleFor: (name: string) => `Groups of ${name}`,
    ofProvider: 'The groups of this user follow the identity provider: change them there.',
    none: 'Choose one at least.',
    nothingChanges: 'Nothing changes.',
    joins: (name: string, groups: string) => `${name} joins: ${groups}`,
    leaves: (name: string, groups: string) => `${name} leaves: ${groups}`,
    regroups:
      'Once it is saved, you do not count for what this account asks for, nor it for what you ask for.',
    ownAccount: 'This is your own account: another administrator has to give back what you lose.',
  },
  fr: {
    open: 'Modifier',
    openFor: (name: string) => `Modifier les groupes de ${name}`,
    titleFor: (name: string) => `Groupes de ${name}`,
    ofProvider: 'Les groupes de cet utilisateur suivent le fournisseur d’identité : modifiez-les là-bas.',
    none: 'Choisissez-en au moins un.',
    nothingChanges: 'Rien ne change.',
    joins: (name: string, groups: string) => `${name} entre dans : ${groups}`,
    leaves: (name: string, groups: string) => `${name} quitte : ${groups}`,
    regroups:
      'Une fois enregistré, vous ne comptez plus pour ce que ce compte demande, ni lui pour ce que vous demandez.',
    ownAccount: 'C’est votre propre compte : un autre administrateur devra vous rendre ce que vous perdez.',
  },
})
