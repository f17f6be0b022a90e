/// The version of the daemon and of everything released with it.
package enum Version {
  package static let current = "1.0.0"
}
