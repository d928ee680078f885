// Package ports declares what the use cases need from the outside: the store that keeps
// their state, and GitHub. It holds the types that cross these borders and one interface
// for each role. So a use case asks only for the roles that it needs, and its tests fake
// only those. It imports the glossary and no implementation.
package ports
