import './api-calls';
import '../../src/main/api';
