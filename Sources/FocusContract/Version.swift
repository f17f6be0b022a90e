/// The version of the daemon and of all that is released with it.
package enum Version {
  package static let current = "0.1.0"
}
