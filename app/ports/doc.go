// Package ports declares what the use cases need of the outside: the store that keeps
// their state, and GitHub. It holds the types that cross these borders and an interface
// for each role, so that a use case asks for the roles that it needs and its tests fake
// only those. It imports the glossary and no implementation.
package ports
